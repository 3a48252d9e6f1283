/** The location of a source file on the page of its contract. */
import { contractPath } from './app.ts';

/** The location of a file, or of one of its lines. */
export function sourcePath(
  address: string,
  {
    chain,
    path,
    line,
  }: { readonly chain: string | null; readonly path: string; readonly line: number | null },
): string {
  const query = new URLSearchParams({ tab: 'source', file: path });
  if (line !== null) query.set('line', String(line));
  if (chain !== null) query.set('chainId', chain);
  return `${contractPath(address)}?${query.toString()}`;
}
