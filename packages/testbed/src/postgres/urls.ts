/** Which part of a server's address differs from its default. */
export interface UrlParts {
  readonly database?: string;
  readonly user?: string;
  readonly password?: string;
  readonly host?: string;
  readonly port?: number;
}

/** `base` with the parts given; a user without a password gets none. */
export function urlWith(base: string, at: UrlParts = {}): string {
  const url = new URL(base);
  if (at.user !== undefined) {
    url.username = encodeURIComponent(at.user);
    url.password = "";
  }
  if (at.password !== undefined) url.password = encodeURIComponent(at.password);
  if (at.host !== undefined) url.hostname = at.host;
  if (at.port !== undefined) url.port = String(at.port);
  if (at.database !== undefined) url.pathname = `/${encodeURIComponent(at.database)}`;
  return url.href;
}
