/**
 * The product's data about a simulated vault pool (cash, weights and doubts), which follow from the events of the
 * vault.
 */
import { ZERO_ADDRESS, type Hex } from '../../../src/domain/hex';
import { legsOf, NOT_WALKED, toLegState, type LegInfo, type LegsPool } from '../../../src/pricing/legState';
import type { Leg, LegState } from '../../../src/pricing/leg';
import { applyBalancerEvent, withWeights } from '../../../src/protocols/balancerV2/weightedPool';
import { emptyManyTokenState } from '../../../src/protocols/manyTokenPool';
import type { ManyTokenState } from '../../../src/protocols/manyTokenProtocol';
import { getManyTokenProtocol } from '../../../src/protocols/registry';

const DECIMALS = 18;
const MANAGER: Hex = `0x${'dd'.repeat(20)}`;
/** Pool type of a weighted pool in the table of pools. */
const WEIGHTED = 4;

interface VaultPoolPlan {
  readonly address: Hex;
  readonly token0: Hex;
  readonly token1: Hex;
  readonly weight0: number;
  readonly isManaged: boolean;
}

export class VaultRecord {
  private readonly info: LegInfo;

  private constructor(
    private readonly pool: LegsPool,
    private readonly state: ManyTokenState,
    /**
     * For each token, the raw units that the product counts as cash although they are not in the vault. Always 0 if
     * the product ignores the balances that a manager declares.
     */
    private readonly invented: readonly bigint[],
  ) {
    this.info = legsOf(pool, getManyTokenProtocol)[0]!;
  }

  static register({ address, token0, token1, weight0, isManaged }: VaultPoolPlan): VaultRecord {
    const tokens = [token0, token1];
    const poolId: Hex = `${address}${'0'.repeat(24)}`;
    const manager = isManaged ? MANAGER : ZERO_ADDRESS;
    const weights = [raw(weight0), 10n ** 18n - raw(weight0)];
    const registered = applyBalancerEvent(emptyManyTokenState(poolId), {
      kind: 'tokens_registered',
      poolId,
      pool: address,
      tokens,
      assetManagers: [manager, manager],
    });
    const pool = { address, protocol: 'balancer_v2', pool_type: WEIGHTED, token0, token1, tokens, weights };
    return new VaultRecord(pool, withWeights(registered, weights), [0n, 0n]);
  }

  get leg(): Leg {
    return this.info.leg;
  }

  /** The record after the manager reports tokens that do not exist (PoolBalanceManaged, UPDATE). */
  declare(side: 0 | 1, amount: number): VaultRecord {
    const before = this.state;
    const after = applyBalancerEvent(before, {
      kind: 'balance_managed',
      poolId: before.poolId,
      pool: this.pool.address,
      assetManager: MANAGER,
      token: side === 0 ? this.pool.token0 : this.pool.token1,
      cashDelta: 0n,
      managedDelta: raw(amount),
    });
    const invented = this.invented.map(
      (inventedBefore, i) => inventedBefore + after.balances[i]! - before.balances[i]!,
    );
    return new VaultRecord(this.pool, after, invented);
  }

  /** The state for prices. `cash0` and `cash1` are whole tokens in the vault. */
  legState(cash0: number, cash1: number): LegState {
    const balances = [raw(cash0), raw(cash1)].map((cash, i) => cash + this.invented[i]!);
    const state = {
      pair: this.pool.address,
      timestamp: 0,
      reserve0: balances[0]!,
      reserve1: balances[1]!,
      liquidity: 0n,
      price: 0,
      balances,
      params: [],
      doubts: this.state.doubts,
      walked_liquidity: NOT_WALKED,
      near0: 0,
      near1: 0,
    };
    return toLegState(this.pool, this.info, state, () => DECIMALS);
  }
}

function raw(amount: number): bigint {
  return BigInt(Math.round(amount * 10 ** DECIMALS));
}
