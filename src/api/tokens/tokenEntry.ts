/** Shared by the endpoints under /tokens/{address}: the parameter, and the token or a 404. */
import type { Hex } from '../../domain/hex';
import { AppError } from '../../errors';
import type { HeadSnapshot } from '../../query/head/headSnapshot';
import type { TokenEntry } from '../../query/tokens/tokenItem';
import type { MarketDeps } from '../marketScope';
import { requiredAddressParam } from '../params';

export const TOKEN_PATH_PARAMS = {
  address: requiredAddressParam('address', 'Address of the token'),
} as const;

/** Finds a token by address. Throws not_found if no pool in the snapshot holds the token. */
export async function getTokenEntry(deps: MarketDeps, address: Hex, head: HeadSnapshot): Promise<TokenEntry> {
  const entry = (await deps.tokens.at(head)).byAddress.get(address);
  if (entry === undefined) throw new AppError('not_found', `there is no pool with the token ${address}`);
  return entry;
}
