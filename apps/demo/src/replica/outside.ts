import type { Outside } from "../graphs/tools.js";

/** Supplier feed and scale over HTTP. The label tells them who asks. */
export function outsideAt(baseUrl: string, label: string): Outside {
  async function ask(what: string, path: string, signal: AbortSignal | undefined, body?: unknown) {
    const url = new URL(path, baseUrl);
    const headers = { "x-replica": label, "content-type": "application/json" };
    const post = body === undefined ? {} : { method: "POST", body: JSON.stringify(body) };
    let response: Response;
    try {
      response = await fetch(url, { headers, ...post, ...(signal && { signal }) });
    } catch (cause) {
      if (signal?.aborted) throw signal.reason;
      throw new Error(`${what} does not answer at ${url.host}. The next tick asks again.`, {
        cause,
      });
    }
    if (!response.ok) throw new Error(`${what} answered with HTTP ${response.status}.`);
    const answer: unknown = await response.json();
    return answer;
  }

  return {
    askSupplier: (supplier, signal) =>
      ask(`The feed of ${supplier}`, `/suppliers?name=${encodeURIComponent(supplier)}`, signal),
    weigh: (boxes, signal) => ask("The scale", "/scale", signal, boxes),
  };
}
