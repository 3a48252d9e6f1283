/** Waits for an optional value up to a timeout, so that slow nodes do not delay answers. */

/** Returns null after `ms` milliseconds. `asking` must not reject. */
export async function orNull<T>(asking: Promise<T | null>, ms: number): Promise<T | null> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<null>((resolve) => (timer = setTimeout(() => resolve(null), ms)));
  try {
    return await Promise.race([asking, late]);
  } finally {
    clearTimeout(timer);
  }
}
