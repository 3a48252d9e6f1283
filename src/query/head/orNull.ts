/** Waits for an optional value, but no longer than a timeout, so that slow nodes do not delay answers. */

/** Resolves to null after `ms` milliseconds without a value. `asking` must not reject. */
export async function orNull<T>(asking: Promise<T | null>, ms: number): Promise<T | null> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<null>((resolve) => (timer = setTimeout(() => resolve(null), ms)));
  try {
    return await Promise.race([asking, timeout]);
  } finally {
    clearTimeout(timer);
  }
}
