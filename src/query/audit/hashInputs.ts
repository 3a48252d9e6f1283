/** Hashes the inputs of a price. Anyone can compute the hash again from the answer and the chain id. */
import { createHash } from 'node:crypto';

import type { Audit } from '../../wire/audit';

/**
 * sha256 of these lines, each ended by a line feed. One space separates fields; null is `-`.
 *
 *     candlehouse-audit 1
 *     chain <chain id>
 *     block <derived_at_block>
 *     token <token.address>
 *     anchor <anchor.address> <anchor.price_usd>
 *     hop <step> <from_token> <to_token>                                 of each hop, followed by
 *
 *     pool <address> <reserve0> <reserve1> <weight> <implied_price>      each of its pools
 *     excluded <address> <reason> <implied_price>                        of each excluded pool
 */
export function hashInputs(chainId: number, audit: Omit<Audit, 'inputs_hash'>): `0x${string}` {
  const lines = [
    ['candlehouse-audit', 1],
    ['chain', chainId],
    ['block', audit.derived_at_block],
    ['token', audit.token.address],
    ['anchor', audit.anchor?.address ?? null, audit.anchor?.price_usd ?? null],
    ...audit.hops.flatMap(({ step, from_token, to_token, pools }) => [
      ['hop', step, from_token, to_token],
      ...pools.map((pool) => [
        'pool',
        pool.address,
        pool.reserve0,
        pool.reserve1,
        pool.weight,
        pool.implied_price,
      ]),
    ]),
    ...audit.excluded_pools.map(({ address, reason, implied_price }) => [
      'excluded',
      address,
      reason,
      implied_price,
    ]),
  ];
  const text = lines.map((fields) => `${fields.map((field) => field ?? '-').join(' ')}\n`).join('');
  return `0x${createHash('sha256').update(text).digest('hex')}`;
}
