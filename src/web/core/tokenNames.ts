/** Finds token symbols for answers that contain only addresses: first from the token's pools, then one by one. */
import type { PairItem } from '../../wire/pairs';
import type { TokenAnswer } from '../../wire/tokens';
import { getAnswer } from './api.ts';
import { symbolOf } from './format.ts';

const known = new Map<string, string>();
/** Number of symbols to remember. */
const KNOWN_MAX = 2_000;
/** Most tokens of a path to look up one by one. */
const ASKED_MAX = 4;

/** Symbols by address, for the tokens in this token's pools and for `path`. Unknown symbols are missing. */
export async function tokenNames(
  address: string,
  path: readonly string[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, string>> {
  if (known.size > KNOWN_MAX) known.clear();
  if (!known.has(address)) await learnPools(address, signal);
  const missing = path.filter((token) => !known.has(token)).slice(0, ASKED_MAX);
  await Promise.all(missing.map((token) => learnToken(token, signal)));
  return known;
}

async function learnPools(address: string, signal: AbortSignal): Promise<void> {
  try {
    const path = `/tokens/${address}/pools`;
    const { data } = await getAnswer<{ data: readonly PairItem[] }>(path, { limit: 100 }, signal);
    for (const token of data.flatMap(({ tokens }) => tokens)) known.set(token.address, symbolOf(token));
  } catch (error) {
    if (signal.aborted) throw error;
  }
}

async function learnToken(address: string, signal: AbortSignal): Promise<void> {
  try {
    const { data } = await getAnswer<TokenAnswer>(`/tokens/${address}`, {}, signal);
    known.set(address, symbolOf(data));
  } catch (error) {
    if (signal.aborted) throw error;
  }
}
