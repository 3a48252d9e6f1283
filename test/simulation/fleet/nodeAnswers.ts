/** The answer of a simulated node to each RPC method, for the branch that the node currently sees. */
import type { ChainBlock } from '../../../src/domain/block';
import { ZERO_HASH, type Hex } from '../../../src/domain/hex';
import { selectorOf } from '../chain/moving/movingPool';
import { answerFamilyCall } from '../chain/simFamilyCalls';
import { answerMovingCall } from '../chain/moving/simMovingPools';
import { answerPairCall } from '../chain/simPairCalls';
import { SIM_SYMBOL, simDecimals } from '../chain/simTokens';
import { answerOfPool, answerOfVault, asksAbout, VAULT } from '../chain/simVault';
import { blockJson, type BlockJson, type Json, type LogJson } from './blockJson';
import type { NodeMood, NodeNature } from './nodeTraits';
import type { SimWorld } from './simWorld';
import type { RpcRefusal } from './wordings';

type NodeAnswer = { readonly result: unknown } | { readonly refusal: RpcRefusal & { data?: unknown } };

export interface NodeView {
  readonly world: SimWorld;
  readonly nature: NodeNature;
  readonly mood: NodeMood;
  /** Blocks from block 0 to the node's head. */
  readonly branch: readonly ChainBlock[];
  /** Whether the node lacks the requested block this time. */
  forgets(): boolean;
}

/**
 * Selectors of decimals() and symbol(). A composable stable pool holds its own token, so nodes are also asked for the
 * metadata of pools.
 */
const DECIMALS = '0x313ce567';
const SYMBOL = '0x95d89b41';
/** Calls for the state of a pool of two tokens before its first block. */
const STATE_CALLS: ReadonlySet<string> = new Set(
  ['slot0()', 'liquidity()', 'balanceOf(address)', 'stableSwap()', 'getActiveId()'].map(selectorOf),
);
/** A node that loses receipts loses those of about one block in this many. */
const LOST_RECEIPTS_EVERY = 7n;
/** A node that loses logs loses one of about one block in this many. */
const LOST_LOG_EVERY = 3n;
const hex = (value: number): string => `0x${value.toString(16)}`;
const refuse = (refusal: RpcRefusal): NodeAnswer => ({ refusal });

export function answerCall(view: NodeView, method: string, params: readonly unknown[]): NodeAnswer {
  const { nature, branch } = view;
  switch (method) {
    case 'eth_chainId':
      return { result: hex(nature.chainId) };
    case 'eth_blockNumber':
      return { result: hex(branch.length - 1) };
    case 'eth_getBlockByNumber':
      return getBlock(view, String(params[0]), params[1] === true);
    case 'eth_getBlockReceipts':
      return nature.receiptsError === null
        ? getReceipts(view, String(params[0]))
        : refuse(nature.receiptsError);
    case 'eth_getTransactionReceipt':
      return getReceipt(view, String(params[0]));
    case 'eth_getLogs':
      return getLogs(view, params[0] as { fromBlock: string; toBlock: string });
    case 'eth_call':
      return call(view, params[0] as { to: Hex; data: Hex }, params[1]);
    default:
      return refuse({ code: -32601, message: `the method ${method} does not exist/is not available` });
  }
}

function answerMissing({ nature }: NodeView): NodeAnswer {
  return nature.unknownWording === 'empty' ? { result: null } : refuse(nature.unknownWording);
}

function getBlock(view: NodeView, blockTag: string, withTransactions: boolean): NodeAnswer {
  const { branch, nature } = view;
  let number = Number(blockTag);
  if (blockTag === 'latest') number = branch.length - 1;
  if (blockTag === 'finalized') {
    if (nature.finalizedTagError !== null)
      return nature.finalizedTagError === 'empty' ? { result: null } : refuse(nature.finalizedTagError);
    // The node's finality follows its own head. No node reports a block as final that a reorg may still
    // remove.
    const { finalNumber, depth } = view.world;
    number = Math.max(0, Math.min(finalNumber, branch.length - 1 - depth) - view.mood.tagBehind);
    if (nature.quirks.isTagStill && number > view.world.firstFinal) {
      view.world.noteQuirk('finalized tags that stand still');
      number = view.world.firstFinal;
    }
  }
  const block = branch[number];
  if (block === undefined || (blockTag !== 'latest' && view.forgets())) return answerMissing(view);
  const json = blockJson(block);
  return { result: withTransactions ? json.whole : json.header };
}

function getReceipts(view: NodeView, blockTag: string): NodeAnswer {
  const block = view.branch[Number(blockTag)];
  if (block === undefined || view.forgets()) return answerMissing(view);
  const receipts = receiptsOf(view, block);
  const lostReceipts = view.nature.lostReceipts;
  if (lostReceipts === null || BigInt(block.hash) % LOST_RECEIPTS_EVERY !== 0n) return { result: receipts };
  if (typeof lostReceipts === 'object') return refuse(lostReceipts);
  return { result: lostReceipts === 'null' ? null : lostReceipts === 'empty' ? [] : receipts.slice(1) };
}

function getReceipt(view: NodeView, hash: string): NodeAnswer {
  const indexIn = ({ transactions }: ChainBlock): number =>
    transactions.findIndex((transaction) => transaction.hash === hash);
  const block = view.branch.findLast((block) => indexIn(block) !== -1);
  if (block === undefined || view.forgets()) return { result: null };
  return { result: receiptsOf(view, block)[indexIn(block)] };
}

/** The receipts as the node has them. */
function receiptsOf(view: NodeView, block: ChainBlock): BlockJson['receipts'] {
  const { receipts } = blockJson(block);
  const { hasBlockReceipt } = view.nature.quirks;
  const keptReceipts = hasBlockReceipt ? receipts : receipts.slice(0, block.transactionCount);
  if (!isChanged(view, block)) return keptReceipts;
  return keptReceipts.map((receipt, index) => {
    const logs = changeLogs(view, block, receipt.logs);
    return index < block.transactionCount
      ? { ...receipt, logs }
      : { ...receipt, ...transactionHashOf(view, block), logs };
  });
}

/** The logs as the node has them. */
function logsOf(view: NodeView, block: ChainBlock): readonly LogJson[] {
  const { logs } = blockJson(block);
  return isChanged(view, block) ? changeLogs(view, block, logs) : logs;
}

function isChanged(view: NodeView, block: ChainBlock): boolean {
  return block.logs.at(-1)?.transactionHash === ZERO_HASH || losesLog(view, block);
}

function losesLog({ nature, world }: NodeView, { hash, logs }: ChainBlock): boolean {
  return (
    nature.quirks.losesLogs && world.chain.isSealed && logs.length > 0 && BigInt(hash) % LOST_LOG_EVERY === 0n
  );
}

function changeLogs(view: NodeView, block: ChainBlock, logs: readonly LogJson[]): readonly LogJson[] {
  const { world } = view;
  const lostLogIndex = losesLog(view, block) ? hex(block.logs.length - 1) : null;
  if (logs.some(({ logIndex }) => logIndex === lostLogIndex))
    world.noteQuirk('lost logs under the same hash');
  return logs
    .filter(({ logIndex }) => logIndex !== lostLogIndex)
    .map((log) => {
      if (log['transactionHash'] !== ZERO_HASH) return log;
      world.noteQuirk('logs without a transaction');
      return { ...log, ...transactionHashOf(view, block) };
    });
}

/** What the node writes as transaction of a log that belongs to none. */
function transactionHashOf({ nature }: NodeView, { hash }: ChainBlock): Json {
  const { blockLogHash } = nature.quirks;
  return { transactionHash: blockLogHash === 'block' ? hash : blockLogHash === 'zero' ? ZERO_HASH : null };
}

function getLogs(view: NodeView, filter: { fromBlock: string; toBlock: string }): NodeAnswer {
  const [from, to] = [Number(filter.fromBlock), Number(filter.toBlock)];
  const { nature, branch } = view;
  const span = to - from + 1;
  if (span > nature.rangeMax) return refuse(nature.rangeWording(nature.rangeMax, span));
  const logs: Json[] = [];
  for (const block of branch.slice(from, to + 1)) logs.push(...logsOf(view, block));
  if (logs.length > nature.resultMax && span > 1) return refuse(nature.resultWording(nature.resultMax));
  return { result: logs };
}

function call(view: NodeView, { to, data }: { to: Hex; data: Hex }, blockTag: unknown): NodeAnswer {
  const { branch, world } = view;
  let hash: Hex | undefined;
  if (typeof blockTag === 'object' && blockTag !== null && 'blockHash' in blockTag) {
    const wantedHash = blockTag.blockHash as Hex;
    const number = world.chain.block(wantedHash)?.number;
    hash = number !== undefined && branch[number]?.hash === wantedHash ? wantedHash : undefined;
  } else hash = (blockTag === 'latest' ? branch.at(-1) : branch[Number(blockTag)])?.hash;
  if (hash === undefined) return refuse({ code: -32000, message: 'header not found' });
  const answer = answerContract(world, hash, to, data);
  if (answer === 'revert') return refuse({ code: 3, message: 'execution reverted' });
  if (answer === 'pruned')
    return refuse({ code: -32000, message: 'missing trie node 5f3 (path ) state is not available' });
  return { result: answer };
}

/** The answer of a contract to a call at the block with this hash. */
export function answerContract(
  world: Pick<SimWorld, 'chain'>,
  hash: Hex,
  to: Hex,
  data: Hex,
): Hex | 'revert' | 'pruned' {
  const { chain } = world;
  if (!chain.tellsOldStates && STATE_CALLS.has(data.slice(0, 10))) return 'pruned';
  const pools = chain.vaultPoolsAt(hash) ?? [];
  if (to === VAULT) {
    const pool = pools.find((candidate) => asksAbout(candidate, data));
    return pool === undefined ? 'revert' : (answerOfVault(pool, data) ?? 'revert');
  }
  const pool = pools.find(({ address }) => address === to);
  if (pool !== undefined && data === SYMBOL) return SIM_SYMBOL;
  if (pool !== undefined && data === DECIMALS) return `0x${simDecimals(to).toString(16).padStart(64, '0')}`;
  if (pool !== undefined) return answerOfPool(pool, data.slice(0, 10)) ?? 'revert';
  const answer =
    answerFamilyCall(chain.familiesAt(hash) ?? [], to, data) ??
    answerMovingCall(chain.movingAt(hash) ?? [], to, data);
  return answer ?? answerPairCall(chain.pairsAt(hash) ?? [], to, data);
}
