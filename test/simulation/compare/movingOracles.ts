/** The oracles of the pools that make their own events, with what the contracts of these pools answer. */
import type { Hex } from '../../../src/domain/hex';
import { BalancerV3Oracle } from '../../support/oracle/oracleBalancerV3';
import { BondingOracle } from '../../support/oracle/oracleBonding';
import { BufferOracle } from '../../support/oracle/oracleBuffers';
import { BookOracle } from '../../support/oracle/oracleBook';
import { CamelotOracle } from '../../support/oracle/oracleCamelot';
import { CryptoOracle } from '../../support/oracle/oracleCrypto';
import { CurveOracle } from '../../support/oracle/oracleCurve';
import { InfinityBinOracle } from '../../support/oracle/oracleInfinityBin';
import { V4Oracle } from '../../support/oracle/oracleV4';
import type { MovingPool } from '../chain/moving/movingPool';
import { BalancerV3Pool, V3_VAULT } from '../chain/moving/simBalancerV3';
import { BufferPool } from '../chain/moving/simBuffer';
import { BONDING_FACTORY, BONDING_FEE_PIPS, bondingBalances, BondingPool } from '../chain/moving/simBonding';
import { BOOK_FACTORY, BookPool } from '../chain/moving/simBook';
import { CAMELOT_FACTORY, CamelotPool } from '../chain/moving/simCamelot';
import { CRYPTO_FACTORY, CryptoPool } from '../chain/moving/simCrypto';
import { SIM_RANKED, type SimChain } from '../chain/simChain';
import { CURVE_FACTORY, CurvePool } from '../chain/moving/simCurve';
import { simDecimals } from '../chain/simTokens';
import { INFINITY_BIN_MANAGER } from '../chain/moving/simInfinityBin';
import { INFINITY_CL_MANAGER, V4_MANAGER } from '../chain/moving/simV4';

export function movingOracles(chain: SimChain, tip: Hex, startBlock: number) {
  const pools = chain.movingAt(tip)!;
  const { tellsOldStates } = chain;
  const byAddress = new Map<string, MovingPool>(pools.map((pool) => [pool.address, pool]));
  return [
    new CamelotOracle(CAMELOT_FACTORY, startBlock, (address) => {
      const pool = byAddress.get(address);
      if (!(pool instanceof CamelotPool)) return undefined;
      const { token0, token1, answers } = pool;
      const [fee0, fee1] = answers.fees.map(Number);
      return {
        fees: [fee0!, fee1!],
        isStable: tellsOldStates ? answers.isStable : null,
        decimals: answers.tellsUnits ? [simDecimals(token0), simDecimals(token1)] : null,
      };
    }),
    new BookOracle(BOOK_FACTORY, startBlock, (address) => {
      const pool = byAddress.get(address);
      if (!(pool instanceof BookPool)) return undefined;
      const { baseFactor, ...state } = pool.answers;
      return { state: tellsOldStates ? state : null, baseFactor: Number(baseFactor) };
    }),
    new V4Oracle(V4_MANAGER, startBlock),
    new V4Oracle(INFINITY_CL_MANAGER, startBlock, true),
    new InfinityBinOracle(INFINITY_BIN_MANAGER, startBlock),
    new BondingOracle(BONDING_FACTORY, startBlock, (address) => {
      const pool = byAddress.get(address);
      if (!(pool instanceof BondingPool)) return undefined;
      const { first } = pool.facts;
      const state = tellsOldStates ? { virtual: first, balances: bondingBalances(first) } : null;
      return { state, feePips: BONDING_FEE_PIPS };
    }),
  ];
}

/** The oracles of pools of many tokens, which ask for the books of a pool at the end of a block. */
export function booksOracles(chain: SimChain, startBlock: number) {
  const truthAt =
    <Books>(family: Family<Books>) =>
    (hash: string, address: string) => {
      const pool = chain.movingAt(hash as Hex)?.find((one) => one.address === address);
      return pool instanceof family ? { ...pool.facts, books: pool.books } : undefined;
    };
  return [
    new CurveOracle(CURVE_FACTORY, startBlock, truthAt(CurvePool), SIM_RANKED),
    new CryptoOracle(CRYPTO_FACTORY, startBlock, truthAt(CryptoPool), SIM_RANKED),
    new BalancerV3Oracle(V3_VAULT, startBlock, truthAt(BalancerV3Pool), SIM_RANKED),
    new BufferOracle(V3_VAULT, startBlock, truthAt(BufferPool), SIM_RANKED),
  ];
}

/** The class of the pools of a family. */
type Family<Books> = new (...values: never[]) => {
  readonly facts: { readonly tokens: readonly string[] };
  readonly books: Books;
};
