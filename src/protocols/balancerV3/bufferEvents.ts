/**
 * Decodes the events of the buffers of Balancer V3. A buffer holds an ERC-4626 wrapper and its asset, and the vault names it by
 * the wrapper. The caller checks that the emitter is the configured vault. Events as in IVaultEvents.sol
 * (balancer/balancer-v3-monorepo).
 */
import type { ChainLog } from '../../domain/block';
import type { Hex } from '../../domain/hex';
import { addressOfTopic, isAddressTopic, isUint128, loadData, uintAt } from '../words';

/** Topic of Wrap(address indexed wrapper, uint256 deposited, uint256 minted, bytes32 balances). */
const WRAP: Hex = '0x3771d13c67011e31e12031c54bb59b0bf544a80b81d280a3711e172aa8b7f47b';
/** Topic of Unwrap(address indexed wrapper, uint256 burned, uint256 withdrawn, bytes32 balances). */
const UNWRAP: Hex = '0xeeb740c90bf2b18c9532eb7d473137767036d893dff3e009f32718f821b2a4c0';
/** Topic of LiquidityAddedToBuffer(address indexed wrapper, uint256 underlying, uint256 wrapped, bytes32 balances). */
export const BUFFER_ADDED: Hex = '0x75c4dc5f23640eeba7d404d9165f515fc3d9e23a5c8b6e2d09b4b9da56ff00a9';
/** Topic of LiquidityRemovedFromBuffer, with the same values. */
const BUFFER_REMOVED: Hex = '0x44d97b36e99b590b3d2875aad3b167b1d7fb1e063f3f1325a1eeac76caee5113';

export const BUFFER_TOPICS: ReadonlySet<Hex> = new Set([WRAP, UNWRAP, BUFFER_ADDED, BUFFER_REMOVED]);

const HALF_BITS = 128n;

export interface BufferEvent {
  readonly kind: 'wrap' | 'unwrap' | 'mint' | 'burn';
  readonly wrapper: Hex;
  /** Raw amounts of the asset and of the wrapper that the event moves. */
  readonly underlying: bigint;
  readonly wrapped: bigint;
  /** What the buffer holds after the event, raw: the asset, then the wrapper. */
  readonly balances: readonly [underlying: bigint, wrapped: bigint];
}

/** Decodes a log of the vault; null for an unknown topic or a malformed layout. Never throws. */
export function decodeBufferEvent({ topics, data }: Pick<ChainLog, 'topics' | 'data'>): BufferEvent | null {
  const [topic, wrapperTopic] = topics;
  if (topics.length !== 2 || !isAddressTopic(wrapperTopic) || !loadData(data, 3)) return null;
  // The vault packs each balance into 128 bits, so a larger amount is not from a real event.
  if (!isUint128(0) || !isUint128(1)) return null;
  const [first, second, packed] = [uintAt(0), uintAt(1), uintAt(2)];
  // PackedTokenBalance.sol: the balance of the wrapper is in the upper half.
  const balances = [BigInt.asUintN(Number(HALF_BITS), packed), packed >> HALF_BITS] as const;
  const event = { wrapper: addressOfTopic(wrapperTopic), underlying: first, wrapped: second, balances };
  switch (topic) {
    case WRAP:
      return { kind: 'wrap', ...event };
    case UNWRAP:
      return { kind: 'unwrap', ...event, underlying: second, wrapped: first };
    case BUFFER_ADDED:
      return { kind: 'mint', ...event };
    case BUFFER_REMOVED:
      return { kind: 'burn', ...event };
    default:
      return null;
  }
}
