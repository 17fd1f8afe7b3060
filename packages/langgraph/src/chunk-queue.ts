/** What has been produced and not been read yet. It never holds up who produces. */
export interface ChunkQueue<T> {
  push(chunk: T): void;
  /** No more chunks come; whoever reads past the last one gets the error, if there was one, once. */
  end(failure?: { readonly error: unknown }): void;
  /** Nobody reads any more. */
  close(): void;
  next(): Promise<IteratorResult<T>>;
}

export function chunkQueue<T>(): ChunkQueue<T> {
  const chunks: T[] = [];
  const readers: (() => void)[] = [];
  let ended = false;
  let failure: { readonly error: unknown } | undefined;

  function wake(): void {
    for (const reader of readers.splice(0)) reader();
  }

  return {
    push(chunk) {
      if (ended) return;
      chunks.push(chunk);
      wake();
    },
    end(with_) {
      if (ended) return;
      ended = true;
      failure = with_;
      wake();
    },
    close() {
      ended = true;
      failure = undefined;
      chunks.length = 0;
      wake();
    },
    async next() {
      while (chunks.length === 0 && !ended)
        await new Promise<void>((resolve) => readers.push(resolve));
      if (chunks.length > 0) return { done: false, value: chunks.shift() as T };
      const toThrow = failure;
      failure = undefined;
      if (toThrow) throw toThrow.error;
      return { done: true, value: undefined };
    },
  };
}
