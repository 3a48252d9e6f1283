/**
 * Simulates sales of a token with eth_call: transfers to the pool by holders, and transfers by the router with an
 * allowance, which is how routers sell. An address without any history is tried too, because a token may let some
 * senders sell and not others. Its balance and the allowances are storage overrides of the call. Without them, real
 * allowances are used, and the new address is left out.
 */
import { AbiCoder, keccak256 } from 'ethers';

import { RpcError } from '../node/rpc/rpcError';
import type { Outcome, RpcCall } from '../node/rpc/rpcTransport';
import { isHexData, ZERO_ADDRESS, type Hex } from '../domain/hex';
import {
  allowanceCall,
  balanceOfCall,
  readBalance,
  transferCall,
  transferFromCall,
} from '../protocols/erc20';
import { askEach, call, PASSING_KINDS, type FactRpc } from './askContracts';

/** Largest number of holders whose sale is simulated. */
const SELLERS_MAX = 3;
/**
 * Storage slots that are tried for the balances and the allowances of a token. A contract numbers them from 0; upgradeable
 * contracts of OpenZeppelin 4 begin at 51.
 */
const SLOTS_TRIED = 64;
/** ERC20Storage of OpenZeppelin 5 (ERC-7201): balances, then allowances. */
const NAMESPACED_SLOT = 0x52c63247e1f47db19d5ce0460030c497f067ca4cebf71ba98eeadabe20bace00n;
/** The value that stands for the first slot, of the next slot one more, and so on. It fits into 64 bits. */
const FIRST_MARK = 1_000_003n;
/** Code that returns 1. A node that runs it at an address without code takes overrides. */
const RETURNS_ONE = '0x600160005260206000f3';
/** Addresses without any history. Their keys are unknown to everybody. */
const [NEW_SELLER, OTHER_ADDRESS]: readonly [Hex, Hex] = [
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
type Worked = boolean | null;

interface Seller {
  readonly address: Hex;
  readonly amount: bigint;
  readonly approved: boolean;
}

/** The amount of a typical buy, and the contract through which most swaps come. */
export function typicalTradeOf(swaps: readonly TriedSwap[]): Pick<Sale, 'amount' | 'router'> {
  const boughtAmounts = swaps
    .flatMap(({ amount }) => (amount < 0n ? [-amount] : []))
    .sort((a, b) => (a < b ? -1 : 1));
  const countBySender = new Map<Hex, number>();
  for (const { sender, maker, pair } of swaps) {
    // A trader that calls the pool itself is no router. Swaps of a vault name no sender.
    if (sender !== maker && sender !== pair && sender !== ZERO_ADDRESS)
      countBySender.set(sender, (countBySender.get(sender) ?? 0) + 1);
  }
  const [mostFrequent = null] = [...countBySender].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1));
  return { amount: boughtAmounts[boughtAmounts.length >> 1] ?? 0n, router: mostFrequent?.[0] ?? null };
}

/**
 * Returns whether sales of the token fail at the end of a block: those of most holders, or those of a new address that
 * can buy and can transfer to others. Null if no sale could be simulated, or if buys fail too, as in a token that is
 * paused. Sends at most about 30 calls.
 */
export async function doSalesFail(
  rpc: FactRpc,
  token: Hex,
  sale: Sale,
  signal: AbortSignal,
): Promise<boolean | null> {
  const trial = new SaleTrial(rpc, token, sale, signal);
  const slots = await trial.findSlots();
  const holders = await trial.listSellers();
  const [outcomesOfHolders, isBuyWorking] = [await trial.trySellers(holders, slots), await trial.tryBuy()];
  if (isBuyWorking === false) return null;
  const triedSales = outcomesOfHolders.filter((worked) => worked !== null);
  const failedSales = triedSales.filter((worked) => !worked).length;
  if (failedSales * 2 > triedSales.length) return true;
  const isNewSellerWorking = slots === null ? null : await trial.tryNewSeller(slots);
  // A new address that can buy but not sell is decisive. Without it, the holders decide.
  if (isNewSellerWorking === false && isBuyWorking === true) return true;
  return triedSales.length > 0 || isNewSellerWorking === true ? false : null;
}

class SaleTrial {
  constructor(
    private readonly rpc: FactRpc,
    private readonly token: Hex,
    private readonly sale: Sale,
    private readonly signal: AbortSignal,
  ) {}

  /** Finds the slots by giving each candidate its own value: the answer of the token names the slot. */
  async findSlots(): Promise<Slots | null> {
    if (!(await this.takesOverrides())) return null;
    const candidates = [...Array(SLOTS_TRIED).keys()].map(BigInt);
    const layouts = [...candidates, NAMESPACED_SLOT, NAMESPACED_SLOT + 1n].flatMap((slot) => [
      (key: Hex, base?: Hex) => slotOf(key, base ?? toWord(slot), false),
      (key: Hex, base?: Hex) => slotOf(key, base ?? toWord(slot), true),
    ]);
    const markSlots = (slotOfLayout: (layout: (key: Hex, base?: Hex) => Hex) => Hex): Storage =>
      Object.fromEntries(
        layouts.map((layout, index) => [slotOfLayout(layout), toWord(FIRST_MARK + BigInt(index))]),
      );
    const answers = await this.askOrNull([
      this.viewCall(
        balanceOfCall(NEW_SELLER),
        markSlots((layout) => layout(NEW_SELLER)),
      ),
      this.viewCall(
        allowanceCall(NEW_SELLER, OTHER_ADDRESS),
        markSlots((layout) => layout(OTHER_ADDRESS, layout(NEW_SELLER))),
      ),
    ]);
    const [balanceLayout, allowanceLayout] = answers.map((answer) => {
      const value = readBalance(answer);
      return value === null ? undefined : layouts[Number(value - FIRST_MARK)];
    });
    if (balanceLayout === undefined || allowanceLayout === undefined) return null;
    return {
      balanceOf: (holder) => balanceLayout(holder),
      allowanceOf: (holder, spender) => allowanceLayout(spender, allowanceLayout(holder)),
    };
  }

  /** The first holders with a balance. Each sells the typical amount, or all it has if that is less. */
  async listSellers(): Promise<Seller[]> {
    const { holders, router, amount } = this.sale;
    const balances = await this.askOrNull(holders.map((holder) => this.viewCall(balanceOfCall(holder))));
    const sellers = holders
      .flatMap((address, index) => {
        const balance = readBalance(balances[index]) ?? 0n;
        return balance > 0n ? [{ address, amount: balance < amount ? balance : amount }] : [];
      })
      .slice(0, SELLERS_MAX);
    const spender = router ?? OTHER_ADDRESS;
    const allowances = await this.askOrNull(
      sellers.map(({ address }) => this.viewCall(allowanceCall(address, spender))),
    );
    return sellers.map((seller, index) => ({
      ...seller,
      approved: (readBalance(allowances[index]) ?? 0n) >= seller.amount,
    }));
  }

  /** Whether each seller can sell through the router; if that cannot be tried, whether it can transfer to the pool. */
  async trySellers(sellers: readonly Seller[], slots: Slots | null): Promise<Worked[]> {
    const { pair, router } = this.sale;
    const directOutcomes = await this.tryCalls(
      sellers.map(({ address, amount }) => this.transferFrom(address, transferCall(pair, amount))),
    );
    const routedOutcomes = await this.tryCalls(
      sellers.map(({ address, amount, approved }) => {
        if (router === null || (slots === null && !approved)) return null;
        const storage =
          approved || slots === null ? {} : { [slots.allowanceOf(address, router)]: toWord(amount) };
        return this.transferFrom(router, transferFromCall(address, pair, amount), storage);
      }),
    );
    return sellers.map((_, index) => routedOutcomes[index] ?? directOutcomes[index] ?? null);
  }

  /** Whether the pool can send the typical amount to a new address, as in a buy. */
  async tryBuy(): Promise<Worked> {
    const { pair, amount } = this.sale;
    const [answer = null] = await this.askOrNull([this.viewCall(balanceOfCall(pair))]);
    const halfBalance = (readBalance(answer) ?? 0n) / 2n;
    const boughtAmount = amount < halfBalance ? amount : halfBalance;
    if (boughtAmount === 0n) return null;
    const [outcome = null] = await this.tryCalls([
      this.transferFrom(pair, transferCall(NEW_SELLER, boughtAmount)),
    ]);
    return outcome;
  }

  /**
   * Whether a new address can sell. Null if it cannot transfer to another address either: a balance without a history
   * then does not fit the token.
   */
  async tryNewSeller(slots: Slots): Promise<Worked> {
    const { pair, router, amount } = this.sale;
    const balanceOverride = { [slots.balanceOf(NEW_SELLER)]: toWord(amount) };
    const allOverrides = {
      ...balanceOverride,
      [slots.allowanceOf(NEW_SELLER, router ?? OTHER_ADDRESS)]: toWord(amount),
    };
    const [plainOutcome = null, directOutcome = null, routedOutcome = null] = await this.tryCalls([
      this.transferFrom(NEW_SELLER, transferCall(OTHER_ADDRESS, amount), balanceOverride),
      this.transferFrom(NEW_SELLER, transferCall(pair, amount), balanceOverride),
      router === null
        ? null
        : this.transferFrom(router, transferFromCall(NEW_SELLER, pair, amount), allOverrides),
    ]);
    return plainOutcome === true ? (routedOutcome ?? directOutcome) : null;
  }

  private async takesOverrides(): Promise<boolean> {
    const { blockHash } = this.sale;
    const probe = withOverride(call(NEW_SELLER, '0x', blockHash), NEW_SELLER, { code: RETURNS_ONE });
    const [answer = null] = await this.askOrNull([probe]);
    return readBalance(answer) === 1n;
  }

  /** The answers; null for calls that fail. */
  private async askOrNull(calls: readonly RpcCall[]): Promise<(Hex | null)[]> {
    const outcomes = await this.send(calls);
    return outcomes.map((outcome) => ('value' in outcome ? outcome.value : null));
  }

  /**
   * The outcome of each call. A hostile token can make all calls fail, and a node may refuse all overrides. Only a failed
   * connection stops the measuring of other tokens.
   */
  private async send(calls: readonly RpcCall[]): Promise<Outcome<Hex>[]> {
    if (calls.length === 0) return [];
    try {
      return await askEach(this.rpc, calls, this.signal);
    } catch (error) {
      if (!(error instanceof RpcError) || PASSING_KINDS.has(error.kind)) throw error;
      return calls.map(() => ({ error }));
    }
  }

  private async tryCalls(calls: readonly (RpcCall | null)[]): Promise<Worked[]> {
    const outcomes = await this.send(calls.filter((call) => call !== null));
    let nextOutcome = 0;
    return calls.map((call) => {
      const outcome = call === null ? undefined : outcomes[nextOutcome++];
      if (outcome === undefined) return null;
      if ('value' in outcome) return isTransferred(outcome.value);
      return outcome.error.kind === 'revert' ? false : null;
    });
  }

  private viewCall(data: Hex, storage: Storage = {}): RpcCall {
    return this.withStorage(call(this.token, data, this.sale.blockHash), storage);
  }

  private transferFrom(from: Hex, data: Hex, storage: Storage = {}): RpcCall {
    return this.withStorage(call(this.token, data, this.sale.blockHash, from), storage);
  }

  private withStorage(callToChange: RpcCall, stateDiff: Storage): RpcCall {
    return Object.keys(stateDiff).length === 0
      ? callToChange
      : withOverride(callToChange, this.token, { stateDiff });
  }
}

function withOverride(callToChange: RpcCall, address: Hex, change: object): RpcCall {
  return { ...callToChange, params: [...callToChange.params, { [address]: change }] };
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
