/**
 * Simulates sales of a token with eth_call: transfers to the pool by holders, and transfers by the router with an
 * allowance, which is how routers sell. An address without any history is tried too, because a token may let some
 * senders sell and not others. Its balance and the allowances are storage overrides of the call. Without them, real
 * allowances are used, and the new address is left out.
 */
import { AbiCoder, keccak256 } from 'ethers';

import { callEach, toRpcCall, type EthCalls } from '../node/calls/askContracts';
import { RpcError, PASSING_KINDS } from '../node/rpc/rpcError';
import type { Outcome, RpcCall } from '../node/rpc/rpcTransport';
import { callData, readUint } from '../domain/contractCall';
import { isHexData, ZERO_ADDRESS, type Hex } from '../domain/hex';

/** Largest number of holders whose sale is simulated. */
const SELLERS_MAX = 3;
/**
 * Storage slots that are tried for the balances and the allowances of a token. A contract numbers them from 0; upgradeable
 * contracts of OpenZeppelin 4 begin at 51.
 */
const SLOTS_TRIED = 64;
/** ERC20Storage of OpenZeppelin 5 (ERC-7201): balances, then allowances. */
const NAMESPACED = 0x52c63247e1f47db19d5ce0460030c497f067ca4cebf71ba98eeadabe20bace00n;
/** Layout number i holds PROBE_VALUE + i, so the token's answer names the layout. The values fit into 64 bits. */
const PROBE_VALUE = 1_000_003n;
/** Code that returns 1. A node that runs it at an address without code takes overrides. */
const RETURNS_ONE = '0x600160005260206000f3';
/** Addresses without any history. Their keys are unknown to everybody. */
const [NEW_SELLER, RECIPIENT]: readonly [Hex, Hex] = [
  freshAddress('a new seller'),
  freshAddress('another address'),
];

interface Sale {
  readonly pair: Hex;
  /** The contract through which most swaps come; null if none is known. */
  readonly router: Hex | null;
  /** Holders that have not sold yet. */
  readonly holders: readonly Hex[];
  /** Raw amount of a typical trade. */
  readonly amount: bigint;
  readonly blockHash: Hex;
}

/** One swap of the token. */
interface TriedSwap {
  readonly pair: Hex;
  /** Sender of the transaction; null if the node does not report senders. */
  readonly maker: Hex | null;
  /** Sender that the event names. */
  readonly sender: Hex;
  /** Amount of the token that the pool received, raw units; negative for a buy. */
  readonly amount: bigint;
}

type Storage = Readonly<Record<string, string>>;

/** Storage slots of a token's balances and allowances. */
interface Slots {
  readonly balanceOf: (holder: Hex) => Hex;
  readonly allowanceOf: (holder: Hex, spender: Hex) => Hex;
}

/** Whether a simulated transfer worked; null if the node did not say, or if it could not be tried. */
type CallWorked = boolean | null;

interface Seller {
  readonly address: Hex;
  readonly amount: bigint;
  readonly approved: boolean;
}

/** The amount of a typical buy, and the contract through which most swaps come. */
export function typicalTradeOf(swaps: readonly TriedSwap[]): Pick<Sale, 'amount' | 'router'> {
  const bought = swaps
    .flatMap(({ amount }) => (amount < 0n ? [-amount] : []))
    .sort((a, b) => (a < b ? -1 : 1));
  const counts = new Map<Hex, number>();
  for (const { sender, maker, pair } of swaps) {
    // A trader that calls the pool itself is no router. Swaps of a vault name no sender.
    if (sender !== maker && sender !== pair && sender !== ZERO_ADDRESS)
      counts.set(sender, (counts.get(sender) ?? 0) + 1);
  }
  const [mostFrequent = null] = [...counts].sort(
    ([a, countA], [b, countB]) => countB - countA || (a < b ? -1 : 1),
  );
  return { amount: bought[bought.length >> 1] ?? 0n, router: mostFrequent?.[0] ?? null };
}

/**
 * Returns whether sales of the token fail at the end of a block: those of most holders, or those of a new address that
 * can buy and can transfer to others. Null if no sale could be simulated, or if buys fail too, as in a token that is
 * paused. Sends at most about 30 calls.
 */
export async function doSalesFail(
  rpc: EthCalls,
  token: Hex,
  sale: Sale,
  signal: AbortSignal,
): Promise<boolean | null> {
  const trial = new SaleTrial(rpc, token, sale, signal);
  const slots = await trial.findSlots();
  const holders = await trial.listSellers();
  const [holderOutcomes, buys] = [await trial.trySellers(holders, slots), await trial.tryBuy()];
  if (buys === false) return null;
  const tried = holderOutcomes.filter((worked) => worked !== null);
  const failed = tried.filter((worked) => !worked).length;
  if (failed * 2 > tried.length) return true;
  const newSellerSold = slots === null ? null : await trial.tryFresh(slots);
  // A new address that can buy but not sell is decisive. Without it, the holders decide.
  if (newSellerSold === false && buys === true) return true;
  return tried.length > 0 || newSellerSold === true ? false : null;
}

class SaleTrial {
  constructor(
    private readonly rpc: EthCalls,
    private readonly token: Hex,
    private readonly sale: Sale,
    private readonly signal: AbortSignal,
  ) {}

  /** Finds the slots by giving each candidate its own value: the answer of the token names the slot. */
  async findSlots(): Promise<Slots | null> {
    if (!(await this.takesOverrides())) return null;
    const candidates = [...Array(SLOTS_TRIED).keys()].map(BigInt);
    const layouts = [...candidates, NAMESPACED, NAMESPACED + 1n].flatMap((slot) => [
      (key: Hex, base?: Hex) => slotOf(key, base ?? toWord(slot), false),
      (key: Hex, base?: Hex) => slotOf(key, base ?? toWord(slot), true),
    ]);
    const keysOf = (keyIn: (layout: (key: Hex, base?: Hex) => Hex) => Hex): Storage =>
      Object.fromEntries(
        layouts.map((layout, index) => [keyIn(layout), toWord(PROBE_VALUE + BigInt(index))]),
      );
    const answers = await this.askPlain([
      this.viewCall(
        callData('balanceOf(address)', NEW_SELLER),
        keysOf((layout) => layout(NEW_SELLER)),
      ),
      this.viewCall(
        callData('allowance(address,address)', NEW_SELLER, RECIPIENT),
        keysOf((layout) => layout(RECIPIENT, layout(NEW_SELLER))),
      ),
    ]);
    const [balances, allowances] = answers.map((answer) => {
      const value = readUint(answer);
      return value === null ? undefined : layouts[Number(value - PROBE_VALUE)];
    });
    if (balances === undefined || allowances === undefined) return null;
    return {
      balanceOf: (holder) => balances(holder),
      allowanceOf: (holder, spender) => allowances(spender, allowances(holder)),
    };
  }

  /** The first holders with a balance. Each sells the typical amount, or all it has if that is less. */
  async listSellers(): Promise<Seller[]> {
    const { holders, router, amount } = this.sale;
    const balances = await this.askPlain(
      holders.map((holder) => this.viewCall(callData('balanceOf(address)', holder))),
    );
    const sellers = holders
      .flatMap((address, index) => {
        const balance = readUint(balances[index]) ?? 0n;
        return balance > 0n ? [{ address, amount: balance < amount ? balance : amount }] : [];
      })
      .slice(0, SELLERS_MAX);
    const spender = router ?? RECIPIENT;
    const allowances = await this.askPlain(
      sellers.map(({ address }) => this.viewCall(callData('allowance(address,address)', address, spender))),
    );
    return sellers.map((seller, index) => ({
      ...seller,
      approved: (readUint(allowances[index]) ?? 0n) >= seller.amount,
    }));
  }

  /** Whether each seller can sell through the router; if that cannot be tried, whether it can transfer to the pool. */
  async trySellers(sellers: readonly Seller[], slots: Slots | null): Promise<CallWorked[]> {
    const { pair, router } = this.sale;
    const directOutcomes = await this.tryCalls(
      sellers.map(({ address, amount }) =>
        this.sellerCall(address, callData('transfer(address,uint256)', pair, amount)),
      ),
    );
    const routedOutcomes = await this.tryCalls(
      sellers.map(({ address, amount, approved }) => {
        if (router === null || (slots === null && !approved)) return null;
        const storage =
          approved || slots === null ? {} : { [slots.allowanceOf(address, router)]: toWord(amount) };
        return this.sellerCall(
          router,
          callData('transferFrom(address,address,uint256)', address, pair, amount),
          storage,
        );
      }),
    );
    return sellers.map((_, index) => routedOutcomes[index] ?? directOutcomes[index] ?? null);
  }

  /** Whether the pool can send the typical amount to a new address, as in a buy. */
  async tryBuy(): Promise<CallWorked> {
    const { pair, amount } = this.sale;
    const [answer = null] = await this.askPlain([this.viewCall(callData('balanceOf(address)', pair))]);
    const halfReserve = (readUint(answer) ?? 0n) / 2n;
    const bought = amount < halfReserve ? amount : halfReserve;
    if (bought === 0n) return null;
    const [outcome = null] = await this.tryCalls([
      this.sellerCall(pair, callData('transfer(address,uint256)', NEW_SELLER, bought)),
    ]);
    return outcome;
  }

  /**
   * Whether a new address can sell. Null if it cannot transfer to another address either: a balance without a history
   * then does not fit the token.
   */
  async tryFresh(slots: Slots): Promise<CallWorked> {
    const { pair, router, amount } = this.sale;
    const owned = { [slots.balanceOf(NEW_SELLER)]: toWord(amount) };
    const approved = { ...owned, [slots.allowanceOf(NEW_SELLER, router ?? RECIPIENT)]: toWord(amount) };
    const [transferOutcome = null, directOutcome = null, routedOutcome = null] = await this.tryCalls([
      this.sellerCall(NEW_SELLER, callData('transfer(address,uint256)', RECIPIENT, amount), owned),
      this.sellerCall(NEW_SELLER, callData('transfer(address,uint256)', pair, amount), owned),
      router === null
        ? null
        : this.sellerCall(
            router,
            callData('transferFrom(address,address,uint256)', NEW_SELLER, pair, amount),
            approved,
          ),
    ]);
    return transferOutcome === true ? (routedOutcome ?? directOutcome) : null;
  }

  private async takesOverrides(): Promise<boolean> {
    const { blockHash } = this.sale;
    const probe = withOverride(toRpcCall({ to: NEW_SELLER, data: '0x' }, { blockHash }), NEW_SELLER, {
      code: RETURNS_ONE,
    });
    const [answer = null] = await this.askPlain([probe]);
    return readUint(answer) === 1n;
  }

  /** The answers; null for calls that fail. */
  private async askPlain(calls: readonly RpcCall[]): Promise<(Hex | null)[]> {
    const outcomes = await this.send(calls);
    return outcomes.map((outcome) => ('value' in outcome ? outcome.value : null));
  }

  /**
   * The outcome of each call. A hostile token can make all calls fail, and a node may refuse all overrides. Only a failed
   * connection stops the measuring of other tokens.
   */
  private async send(calls: readonly RpcCall[]): Promise<Outcome<Hex>[]> {
    try {
      return await callEach(this.rpc, calls, this.signal);
    } catch (error) {
      if (!(error instanceof RpcError) || PASSING_KINDS.has(error.kind)) throw error;
      return calls.map(() => ({ error }));
    }
  }

  private async tryCalls(calls: readonly (RpcCall | null)[]): Promise<CallWorked[]> {
    const outcomes = await this.send(calls.filter((call) => call !== null));
    let outcomeIndex = 0;
    return calls.map((call) => {
      const outcome = call === null ? undefined : outcomes[outcomeIndex++];
      if (outcome === undefined) return null;
      if ('value' in outcome) return isTransferred(outcome.value);
      return outcome.error.kind === 'revert' ? false : null;
    });
  }

  private viewCall(data: Hex, storage: Storage = {}): RpcCall {
    return this.sellerCall(ZERO_ADDRESS, data, storage);
  }

  private sellerCall(from: Hex, data: Hex, storage: Storage = {}): RpcCall {
    const { blockHash } = this.sale;
    return this.override(toRpcCall({ from, to: this.token, data }, { blockHash }), storage);
  }

  private override(call: RpcCall, stateDiff: Storage): RpcCall {
    return Object.keys(stateDiff).length === 0 ? call : withOverride(call, this.token, { stateDiff });
  }
}

function withOverride(call: RpcCall, address: Hex, override: object): RpcCall {
  return { ...call, params: [...call.params, { [address]: override }] };
}

/**
 * The slot of a key in a mapping at the slot `base`: keccak256(key, base) in Solidity, keccak256(base, key) in Vyper.
 */
function slotOf(key: Hex, base: Hex, isVyper: boolean): Hex {
  const parameterTypes = isVyper ? ['bytes32', 'address'] : ['address', 'bytes32'];
  return toHex(
    keccak256(AbiCoder.defaultAbiCoder().encode(parameterTypes, isVyper ? [base, key] : [key, base])),
  );
}

function freshAddress(name: string): Hex {
  return toHex(`0x${keccak256(Buffer.from(`candlehouse: ${name}`)).slice(26)}`);
}

function toWord(value: bigint): Hex {
  return `0x${value.toString(16).padStart(64, '0')}`;
}

function toHex(text: string): Hex {
  return isHexData(text) ? text : '0x';
}

/**
 * Returns whether an answer of a transfer means success. Many tokens return nothing; a token that returns false did not
 * transfer.
 */
function isTransferred(answer: Hex): boolean {
  return answer === '0x' || BigInt(answer.slice(0, 66)) !== 0n;
}
