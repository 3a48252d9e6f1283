/** What the endpoints under /tokens/{address} share: the parameter, and the token or its 404. */
import type { Hex } from '../../domain/hex';
import { AppError } from '../../errors';
import type { HeadSnapshot } from '../../query/head/headSnapshot';
import type { TokenEntry } from '../../query/tokens/tokenItem';
import type { MarketDeps } from '../marketRoute';
import { requiredAddressParam } from '../params';

export const TOKEN_PATH_PARAMS = { address: requiredAddressParam('address', 'Token') } as const;

/** The token of an address. Throws not_found for one that no pool of the snapshot holds. */
export async function getTokenEntry(deps: MarketDeps, address: Hex, head: HeadSnapshot): Promise<TokenEntry> {
  const entry = (await deps.tokens.at(head)).byAddress.get(address);
  if (entry === undefined) throw new AppError('not_found', `there is no pool with the token ${address}`);
  return entry;
}
