/** What a process tells its guard, one JSON object a line. */
export type GuardMessage =
  | {
      readonly kind: "process";
      readonly pid: number;
      /** Asked to end with this signal first, so that it can put its shared memory away. */
      readonly gentle?: "SIGQUIT";
    }
  | { readonly kind: "folder"; readonly path: string }
  | { readonly kind: "process-gone"; readonly pid: number }
  | { readonly kind: "folder-gone"; readonly path: string };

/** The variable by which the guard knows what its process started, also what was never announced. */
export const runVariable = "SOLE_WRITER_TESTBED_RUN";
