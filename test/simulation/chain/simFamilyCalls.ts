/** Answers contract calls to pools and factories of Solidly, Slipstream and Algebra of the simulated chain. */
import { id } from 'ethers';

import type { Hex } from '../../../src/domain/hex';
import { FAMILY_FACTORIES, type FamilyPool } from './simFamilyPool';
import { dataOf as words } from './simLogs';
import { simDecimals } from './simTokens';

const selector = (signature: string): string => id(signature).slice(0, 10);
const POOL = {
  token0: selector('token0()'),
  token1: selector('token1()'),
  stable: selector('stable()'),
  metadata: selector('metadata()'),
  fee: selector('fee()'),
  spacing: selector('tickSpacing()'),
  globalState: selector('globalState()'),
};
const FACTORY = {
  getPair: selector('getPair(address,address,bool)'),
  getPool: selector('getPool(address,address,bool)'),
  getRange: selector('getPool(address,address,int24)'),
  poolByPair: selector('poolByPair(address,address)'),
  feeOfKind: selector('getFee(bool)'),
  feeOfPool: selector('getFee(address,bool)'),
};
const FACTORIES = new Map(Object.entries(FAMILY_FACTORIES).map(([family, address]) => [address, family]));
const PIPS_PER_BPS = 100;

/** The answer of a contract of these families; null if the call is to another contract. */
export function answerFamilyCall(pools: readonly FamilyPool[], to: Hex, data: Hex): Hex | 'revert' | null {
  const family = FACTORIES.get(to);
  if (family !== undefined)
    return answerFactory(
      pools.filter((pool) => pool.family === family),
      data,
    );
  const pool = pools.find(({ address }) => address === to);
  return pool === undefined ? null : (answerPool(pool, data.slice(0, 10)) ?? null);
}

function answerPool(pool: FamilyPool, called: string): Hex | 'revert' | null {
  const { family, token0, token1, feePips } = pool;
  const isSolidly = family === 'solidly1' || family === 'solidly2';
  switch (called) {
    case POOL.token0:
      return words(token0);
    case POOL.token1:
      return words(token1);
    case POOL.stable:
      return isSolidly ? words(pool.isStable ? 1n : 0n) : 'revert';
    case POOL.metadata: {
      if (!isSolidly || !pool.tellsDecimals) return 'revert';
      const units = [token0, token1].map((token) => 10n ** BigInt(simDecimals(token)));
      return words(...units, ...pool.reserves, pool.isStable ? 1n : 0n, token0, token1);
    }
    case POOL.fee:
      return family === 'slipstream' ? words(BigInt(feePips)) : 'revert';
    case POOL.spacing:
      return isSolidly ? 'revert' : words(BigInt(pool.spacing));
    case POOL.globalState: {
      if (family !== 'algebra') return 'revert';
      const fee = BigInt(Math.min(feePips, 65_535));
      const rest = pool.hasTwoFees ? [fee - 1n, 0n, 0n, 0n, 1n] : [0n, 0n, 1n];
      return words(pool.sqrtPrice, BigInt(pool.tick), fee, ...rest);
    }
    default:
      // Other functions, such as liquidity(), are answered as for every contract.
      return null;
  }
}

/** `pools` are those of the factory. */
function answerFactory(pools: readonly FamilyPool[], data: Hex): Hex | 'revert' {
  const [first, second, third] = [0, 1, 2].map(
    (index) => `0x${data.slice(10 + 64 * index, 74 + 64 * index)}`,
  );
  const called = data.slice(0, 10);
  const find = (accepts: (pool: FamilyPool) => boolean): Hex => {
    const isPair = ({ token0, token1 }: FamilyPool): boolean =>
      words(token0) === first && words(token1) === second;
    return words(pools.find((pool) => isPair(pool) && accepts(pool))?.address ?? 0n);
  };
  const family = pools[0]?.family;
  switch (called) {
    case FACTORY.getPair:
    case FACTORY.getPool:
      if (family !== (called === FACTORY.getPair ? 'solidly1' : 'solidly2')) return 'revert';
      return find(({ isStable }) => words(isStable ? 1n : 0n) === third);
    case FACTORY.getRange:
      return family === 'slipstream' ? find(({ spacing }) => words(BigInt(spacing)) === third) : 'revert';
    case FACTORY.poolByPair:
      return family === 'algebra' ? find(({ isCustom }) => !isCustom) : 'revert';
    case FACTORY.feeOfPool: {
      const pool = pools.find(({ address }) => words(address) === first);
      return family === 'solidly2' && pool !== undefined
        ? words(BigInt(pool.feePips / PIPS_PER_BPS))
        : 'revert';
    }
    case FACTORY.feeOfKind:
      return family === 'solidly1' ? words(first === words(1n) ? 5n : 20n) : 'revert';
    default:
      return 'revert';
  }
}
