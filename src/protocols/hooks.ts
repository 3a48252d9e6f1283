/**
 * Hooks: contracts that a pool calls around its actions. The lowest 14 bits of the address of a Uniswap V4 hook are its
 * permissions (Hooks.sol of @uniswap/v4-core). A PancakeSwap Infinity pool names the permissions of its hook.
 */
import type { Hex } from '../domain/hex';
import type { Pool } from '../domain/pool';
import { DOUBTS } from '../domain/pools/doubts';

/** The permissions, from the highest bit to the lowest. In a pool with bins, to add liquidity is to mint. */
export const HOOK_PERMISSIONS = [
  'before_initialize',
  'after_initialize',
  'before_add_liquidity',
  'after_add_liquidity',
  'before_remove_liquidity',
  'after_remove_liquidity',
  'before_swap',
  'after_swap',
  'before_donate',
  'after_donate',
  'before_swap_returns_delta',
  'after_swap_returns_delta',
  'after_add_liquidity_returns_delta',
  'after_remove_liquidity_returns_delta',
] as const;
type HookPermission = (typeof HOOK_PERMISSIONS)[number];

type Hooked = Pick<Pool, 'hooks' | 'hookBits'>;

/** The permissions of a pool's hook, in the order of HOOK_PERMISSIONS. */
export function permissionsOf({ hooks, hookBits }: Hooked): readonly HookPermission[] {
  const bits = hooks == null ? 0 : (hookBits ?? parseInt(hooks.slice(-4), 16));
  return HOOK_PERMISSIONS.filter((_, index) => ((bits >> (HOOK_PERMISSIONS.length - 1 - index)) & 1) === 1);
}

/**
 * The fee of a pool in pips. Null if a hook sets it: the fee at the creation is then 0. A hook that leaves a fee of 0 as it
 * is looks the same.
 */
export function findFeePips(feePips: number, hooks: Hex | null): number | null {
  return feePips === 0 && hooks !== null ? null : feePips;
}

/**
 * The doubt about a pool: DOUBTS.unfollowed, or 0. A hook that takes part in the amounts of swaps decides what a trader
 * pays, so the state of the pool does not tell a price.
 */
export function hookDoubt(pool: Hooked): number {
  const permissions = permissionsOf(pool);
  const takesPart =
    permissions.includes('before_swap_returns_delta') || permissions.includes('after_swap_returns_delta');
  return takesPart ? DOUBTS.unfollowed : 0;
}
