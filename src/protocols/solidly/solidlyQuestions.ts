/** What the node is asked about Solidly pools. The functions of both generations are asked, and one of them answers. */
import { callData, readAddress, readUint, type ContractCall } from '../../domain/contractCall';
import type { Hex } from '../../domain/hex';
import { EMPTY_STATE, type PoolState } from '../../domain/pool';
import { POOL_STABLE, POOL_V2 } from '../../domain/pools/poolShape';
import type { PoolCreation, PoolQuestions } from '../protocol';

/** Largest fee in basis points that a factory may name. A larger answer has another unit. */
const FEE_BPS_MAX = 1_000n;
const PIPS_PER_BPS = 100;

export const solidlyQuestions: PoolQuestions = {
  factCalls: ['token0()', 'token1()', 'stable()'],
  readFacts,
  confirmCalls: (to, { token0, token1, poolType }) =>
    ['getPool(address,address,bool)', 'getPair(address,address,bool)'].map((name) => ({
      to,
      data: callData(name, token0, token1, poolType === POOL_STABLE ? 1 : 0),
    })),
  detailCalls,
  readDetails,
  stateCalls: ({ pool: to }) => [{ to, data: callData('getReserves()') }],
  readState,
  lastMoveCalls: () => [],
  readLastMove: ([reserves]) => readUint(reserves, 2),
  listsPools: false,
};

function readFacts(pool: Hex, answers: ReadonlyMap<string, Hex | null>): PoolCreation | null {
  const [token0, token1] = [readAddress(answers.get('token0()')), readAddress(answers.get('token1()'))];
  const stable = readUint(answers.get('stable()'));
  if (token0 === null || token1 === null || stable === null || stable > 1n) return null;
  const poolType = stable === 1n ? POOL_STABLE : POOL_V2;
  return { pool, token0, token1, feePips: null, tickSpacing: 0, poolType };
}

/** metadata() names the units in which the pool counts: 10^decimals at its creation. */
function detailCalls(factory: Hex, { pool, poolType }: PoolCreation): ContractCall[] {
  const stable = poolType === POOL_STABLE ? 1 : 0;
  return [
    { to: pool, data: callData('metadata()') },
    { to: factory, data: callData('getFee(address,bool)', pool, stable) },
    { to: factory, data: callData('getFee(bool)', stable) },
  ];
}

function readDetails(
  creation: PoolCreation,
  [metadata, feeOfPool, feeOfKind]: readonly (Hex | null)[],
): PoolCreation {
  const fee = readUint(feeOfPool) ?? readUint(feeOfKind);
  const decimals0 = exponentOf(readUint(metadata));
  const decimals1 = exponentOf(readUint(metadata, 1));
  return {
    ...creation,
    feePips: fee === null || fee > FEE_BPS_MAX ? null : Number(fee) * PIPS_PER_BPS,
    scaleDecimals: decimals0 === null || decimals1 === null ? null : [decimals0, decimals1],
  };
}

/** The n of 10^n; null for another number. */
export function exponentOf(unit: bigint | null): number | null {
  const digits = unit?.toString() ?? '';
  return /^10*$/.test(digits) ? digits.length - 1 : null;
}

function readState([reserves]: readonly (Hex | null)[]): PoolState | null {
  const [reserve0, reserve1] = [readUint(reserves), readUint(reserves, 1)];
  return reserve0 === null || reserve1 === null ? null : { ...EMPTY_STATE, reserve0, reserve1 };
}
