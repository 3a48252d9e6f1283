/** The page of one transaction: status, value, gas, decoded input, moved tokens, swaps and logs. */
import type { SwapItem } from '../../wire/activity';
import type { ChainItem } from '../../wire/chains';
import type { View } from '../core/app.ts';
import { h } from '../core/dom.ts';
import type { ContractRecord, LogEntry } from '../core/explorerAnswers.ts';
import { formatTime, shortHex } from '../core/format.ts';
import { emptyNotice, loadingPanel, skeleton } from '../core/panel.ts';
import { ago, badge, fact, facts } from '../core/pieces.ts';
import {
  chainOf,
  decodeInput,
  findChain,
  listLogs,
  readContracts,
  type DecodedInput,
  type FoundLogs,
} from '../explorer/contractReads.ts';
import { addressOf, blockNumber, copyable, logsPath } from '../explorer/links.ts';
import { logItem } from '../explorer/logItem.ts';
import {
  getNodeBlock,
  getNodeReceipt,
  getNodeTransaction,
  NO_NODE,
  settleAnswer,
  type NodeReceipt,
  type NodeTransaction,
} from '../explorer/nodeAnswers.ts';
import { transactionFee } from '../explorer/transactionFee.ts';
import {
  changeList,
  changesOf,
  findSwaps,
  inputPart,
  moveList,
  movesOf,
  swapList,
} from '../explorer/transactionParts.ts';
import { proofFact } from '../explorer/proofFact.ts';
import { COIN_DECIMALS, formatUnits, formatWhole, GWEI_DECIMALS, usedOf } from '../explorer/units.ts';

/** Larger than the index of any log in its block. */
const LOG_INDEX_MAX = 2 ** 20 - 2;
/** Most logs shown. */
const LOGS_MAX = 200;
/** Pause between two requests for a transaction that is not indexed yet. */
const REFRESH_MS = 2_000;
/** Age in seconds of a transaction whose logs the page no longer waits for. */
const LOGS_WAIT_SECONDS = 600;

interface FoundTransaction extends FoundLogs {
  readonly hash: string;
  readonly chain: string | null;
  /** The answer of the node; null without a node, or if the node does not have the transaction. */
  readonly nodeTransaction: NodeTransaction | null;
  readonly receipt: NodeReceipt | null;
  /** Why the node gives no answer; null if it gives one. */
  readonly noAnswerReason: string | null;
  readonly time: number | null;
  readonly contracts: ReadonlyMap<string, ContractRecord>;
  readonly swaps: readonly SwapItem[];
  readonly call: DecodedInput | null;
  readonly chainItem: ChainItem | undefined;
}

export const transactionView: View = (app, place, main, signal) => {
  const hash = place.path[1]?.toLowerCase() ?? '';
  app.setTitle(`Transaction ${shortHex(hash)}`);
  const head = h('h1', {}, 'Transaction');
  if (!/^0x[0-9a-f]{64}$/.test(hash)) {
    main.replaceChildren(head, emptyNotice('The hash of a transaction is 0x and 64 hex digits'));
    return;
  }
  let isComplete = false;
  const view = loadingPanel({
    load: async (loadSignal) => readTransaction(hash, await chainOf(place.query), loadSignal),
    render: (foundTransaction) => {
      isComplete = needsNoRefresh(foundTransaction);
      return transactionPage(foundTransaction);
    },
    skeleton: () => skeleton(400, 8),
    signal,
  });
  main.replaceChildren(head, h('p', { class: 'wallet-name' }, copyable(hash)), view.element);
  app.onHead(() => isComplete || view.refresh(), REFRESH_MS, signal);
};

/** Whether another request would show nothing new: the logs are shown, or none exist, or the index begins later. */
function needsNoRefresh({
  logs,
  noLogsReason,
  receipt,
  noAnswerReason,
  time,
  asOfBlock,
}: FoundTransaction): boolean {
  if (noAnswerReason !== null) return noAnswerReason === NO_NODE;
  if (logs.length > 0) return true;
  if (receipt === null) return false;
  const isOld = time !== null && Date.now() / 1_000 - time > LOGS_WAIT_SECONDS;
  return (
    receipt.logs === 0 ||
    noLogsReason !== null ||
    isOld ||
    (asOfBlock ?? 0) >= (receipt.blockNumber ?? Infinity)
  );
}

async function readTransaction(
  hash: string,
  chain: string | null,
  signal: AbortSignal,
): Promise<FoundTransaction> {
  const [{ value: nodeTransaction, noAnswerReason }, receiptAnswer, foundLogs, chainItem] = await Promise.all(
    [
      settleAnswer(getNodeTransaction(hash, chain, signal)),
      settleAnswer(getNodeReceipt(hash, chain, signal)),
      listLogs({ tx_hash: hash, limit: LOGS_MAX, chainId: chain }, signal),
      findChain(chain),
    ],
  );
  const { logs, noLogsReason } = foundLogs;
  const { value: receipt } = receiptAnswer;
  const block = receipt?.blockNumber ?? logs[0]?.block_number ?? null;
  const hasCall = nodeTransaction !== null && nodeTransaction.to !== null && nodeTransaction.input.length > 2;
  const isIncomplete = noLogsReason !== null || foundLogs.total > logs.length;
  const [time, contracts, swaps, call] = await Promise.all([
    logs[0]?.timestamp ?? (block === null ? null : timeOf(block, chain, signal)),
    readContracts(
      logs.map(({ address }) => address),
      chain,
      signal,
    ),
    // Only the market chain has swaps.
    chain === null ? findSwaps(hash, isIncomplete ? endsOfBlock(block) : logs, signal) : [],
    hasCall ? decodeInput(nodeTransaction.to ?? '', nodeTransaction.input, chain, signal) : null,
  ]);
  const reason = noAnswerReason ?? receiptAnswer.noAnswerReason;
  return {
    ...foundLogs,
    hash,
    chain,
    nodeTransaction,
    receipt,
    noAnswerReason: reason,
    time,
    contracts,
    swaps,
    call,
    chainItem,
  };
}

/** The first and the last position in a block, between which the swaps of a transaction are. */
function endsOfBlock(block: number | null): Pick<LogEntry, 'block_number' | 'log_index'>[] {
  return block === null ? [] : [0, LOG_INDEX_MAX].map((index) => ({ block_number: block, log_index: index }));
}

async function timeOf(block: number, chain: string | null, signal: AbortSignal): Promise<number | null> {
  return (
    (await settleAnswer(getNodeBlock({ block, withTransactions: false }, chain, signal))).value?.time ?? null
  );
}

function transactionPage(foundTransaction: FoundTransaction): HTMLElement {
  const { nodeTransaction, logs, total, noLogsReason, noAnswerReason, chain, contracts, swaps, call } =
    foundTransaction;
  if (nodeTransaction === null && logs.length === 0)
    return emptyNotice(
      [noAnswerReason, noLogsReason].filter((text) => text !== null).join('. ') ||
        'This hash is unknown: no node of this service knows the transaction, and no log of it is indexed',
      ...(noAnswerReason === null ? [] : [h('p', {}, 'No logs of this transaction are stored')]),
    );
  const moves = movesOf(logs, contracts);
  const section = (title: string, body: Node): HTMLElement =>
    h('section', { class: 'card list-card' }, h('div', { class: 'card-bar' }, h('h2', {}, title)), body);
  return h(
    'div',
    { class: 'transaction' },
    summary(foundTransaction),
    swaps.length > 0 && section(`Swaps (${swaps.length})`, swapList(swaps)),
    moves.length > 0 && section(`Token moves (${moves.length})`, moveList(moves, chain)),
    moves.length > 1 && section('Token moves by address', changeList(changesOf(moves), chain)),
    nodeTransaction !== null &&
      nodeTransaction.input.length > 2 &&
      section(
        nodeTransaction.to === null ? 'Code that creates the contract' : 'Input',
        inputPart(nodeTransaction, call, chain),
      ),
    section(
      `Logs (${total > logs.length ? `the first ${logs.length} of ${formatWhole(BigInt(total))}` : total})`,
      logs.length === 0
        ? emptyNotice(noLogsText(foundTransaction))
        : h(
            'ol',
            { class: 'events tab-body' },
            ...logs.map((entry) =>
              logItem(entry, chain, contracts.get(entry.address) ?? null, addressOf(entry.address, chain)),
            ),
            total > logs.length &&
              h(
                'li',
                {},
                h('a', { href: logsPath({ tx_hash: foundTransaction.hash, chainId: chain }) }, 'All logs'),
              ),
          ),
    ),
  );
}

function noLogsText({ noLogsReason, nodeTransaction, receipt, noAnswerReason }: FoundTransaction): string {
  if (receipt?.status === 0) return 'This transaction failed, so the chain keeps no logs of it';
  if (receipt?.logs === 0) return 'This transaction emitted no logs';
  if (noLogsReason !== null) return noLogsReason;
  if (noAnswerReason !== null) return 'No logs of this transaction are stored';
  if (receipt === null && nodeTransaction?.blockNumber === null)
    return 'This transaction is in no block yet, so it has no logs';
  return 'This service has not indexed the logs of this transaction';
}

function summary(foundTransaction: FoundTransaction): HTMLElement {
  const { nodeTransaction, receipt, time, logs, chain, chainItem, noLogsReason, asOfBlock } =
    foundTransaction;
  const block = receipt?.blockNumber ?? nodeTransaction?.blockNumber ?? logs[0]?.block_number ?? null;
  const missingText = missingTextOf(foundTransaction);
  return h(
    'section',
    { class: 'card contract-card' },
    facts(
      fact('Status', statusBadge(foundTransaction)),
      fact('Block', block === null ? '—' : blockNumber(block, chain)),
      fact('Time', time === null ? '—' : h('span', {}, formatTime(time), ' (', ago(time), ')')),
      block === null ? null : proofFact(block, noLogsReason !== null || (asOfBlock ?? 0) >= block, chainItem),
      ...(nodeTransaction === null ? [] : sentFacts(foundTransaction, nodeTransaction)),
    ),
    missingText === null ? null : h('p', { class: 'muted missing' }, missingText),
  );
}

/** A sentence about the missing fields of the node; null if none is missing. */
function missingTextOf({ nodeTransaction, receipt, noAnswerReason }: FoundTransaction): string | null {
  if (nodeTransaction === null)
    return `${noAnswerReason ?? 'No node of this service knows this transaction'}. Sender, receiver, value, gas and input are unknown; the stored logs are shown.`;
  if (receipt === null && noAnswerReason !== null)
    return `${noAnswerReason}. Status, fee and used gas are unknown.`;
  return null;
}

/** The fields of a transaction that only the node has. */
function sentFacts(
  { receipt, chain, chainItem }: FoundTransaction,
  nodeTransaction: NodeTransaction,
): (HTMLElement | null)[] {
  const gasPrice = receipt?.gasPrice ?? nodeTransaction.gasPrice;
  const gasUsed = receipt?.gasUsed ?? null;
  const fee = transactionFee({ gasUsed, gasPrice, layer1Fee: receipt?.layer1Fee ?? null });
  const createdContract = receipt?.contract ?? null;
  const coinAmount = (wei: bigint): string =>
    `${formatUnits(wei, COIN_DECIMALS)} ${chainItem?.native_symbol ?? ''}`;
  const numberFact = (name: string, value: number | null): HTMLElement | null =>
    value === null ? null : fact(name, String(value));
  return [
    nodeTransaction.from === null ? null : fact('From', addressOf(nodeTransaction.from, chain)),
    nodeTransaction.to === null ? null : fact('To', addressOf(nodeTransaction.to, chain)),
    createdContract === null ? null : fact('Created contract', addressOf(createdContract, chain)),
    fact('Value', coinAmount(nodeTransaction.value)),
    fee === null ? null : fact('Fee', coinAmount(fee)),
    gasUsed === null ? null : fact('Gas used', usedOf(gasUsed, nodeTransaction.gas)),
    gasPrice === null
      ? null
      : fact(
          'Gas price',
          `${formatUnits(gasPrice, GWEI_DECIMALS)} gwei`,
          `${String(gasPrice)} wei per unit of gas`,
        ),
    numberFact('Nonce', nodeTransaction.nonce),
    numberFact('Position in the block', nodeTransaction.index),
    numberFact('Type', nodeTransaction.type),
  ];
}

function statusBadge({ receipt, nodeTransaction, logs }: FoundTransaction): HTMLElement {
  if (receipt?.status === 1) return badge('success', 'good');
  if (receipt?.status === 0) return badge('failed', 'bad');
  // A failed transaction emits no logs.
  if (logs.length > 0) return badge('success', 'good');
  return nodeTransaction !== null && nodeTransaction.blockNumber === null
    ? badge('pending', 'warn')
    : badge('unknown');
}
