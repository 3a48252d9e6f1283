/**
 * Compiles a function whose code follows from names, such as the columns of a row. Names in the code must be JSON
 * strings, so that no name can change it.
 */
export function compileFunction<F extends (...values: never[]) => unknown>(
  parameters: readonly string[],
  body: string,
): F {
  return new Function(...parameters, body) as F;
}
