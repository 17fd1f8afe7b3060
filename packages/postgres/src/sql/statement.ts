/** One SQL statement. A name lets a session that is kept parse and plan it once. */
export interface Statement {
  readonly name?: string;
  readonly text: string;
}
