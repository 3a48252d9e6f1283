/** What tokens are called, where an answer names them by address only: by the pools of the token, then one by one. */
import type { PairItem } from '../wire/pairs';
import type { TokenAnswer } from '../wire/tokens';
import { getAnswer } from './api.ts';
import { symbolOf } from './format.ts';

const known = new Map<string, string>();
/** Names that are kept. */
const KNOWN_MAX = 2_000;
/** Tokens of a path that are asked for one by one. */
const ASKED_MAX = 4;

/** Symbols by address: of the tokens beside this one in its pools, and of `path`. What nobody knows is left out. */
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
