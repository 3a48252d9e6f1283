/** Waiting for what may be late: an answer does not wait longer than it is worth. */

/** Null after a while. What is waited for never rejects. */
export async function orNull<T>(asking: Promise<T | null>, ms: number): Promise<T | null> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<null>((resolve) => (timer = setTimeout(() => resolve(null), ms)));
  try {
    return await Promise.race([asking, late]);
  } finally {
    clearTimeout(timer);
  }
}
