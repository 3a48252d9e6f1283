/** ERC-20: supplies and balances by the node, else by whole histories of transfers; metadata; transfers out of the logs. */
import { addressOfWord, isHexOfLength, type Hex } from '../../domain/hex';
import { blockOfOrd } from '../../domain/ord';
import { isHistoryPartial, listSupplies, readHoldings } from '../../query/balances';
import type { HeadSnapshot } from '../../query/headSnapshot';
import { ALL_LOGS, type LogFilter, type LogSource } from '../../query/logFilter';
import { listLogs, type StoredLog } from '../../query/logs';
import { listTokens, tokenOf, type TokenMap } from '../../query/tokens';
import type { ChainMoment } from '../explorer/explorerRoute';
import type { Action, Actions, Ask } from './action';
import { badParam, EMPTY, listOf, ok, refuse, TEXTS } from './answers';
import { badFormat, findAddressParam, needAddress, readPage, textOf } from './askedParams';
import { readBlock } from './logActions';
import { askNode } from './nodeActions';

const TRANSFER: Hex = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
/** `totalSupply()` and `balanceOf(address)`. */
const TOTAL_SUPPLY: Hex = '0x18160ddd';
const BALANCE_OF: Hex = '0x70a08231';
const WORD = 66;
const PAGE_MAX = 1_000;
/** Logs read for one page: those of NFTs lie between. */
const TURNS_MAX = 12;
/** Tokens of one address that its transfers are looked for in. */
const TOKENS_MAX = 300;

export const accountTokenActions: Actions = new Map<string, Action>([
  ['tokentx', listTransfers],
  ['tokenbalance', getTokenBalance],
]);
export const statsActions: Actions = new Map<string, Action>([['tokensupply', getTokenSupply]]);
export const tokenActions: Actions = new Map<string, Action>([['tokeninfo', getTokenInfo]]);

async function getTokenSupply(ask: Ask) {
  const supply = await readSupply(ask, needAddress(ask.asked, 'contractaddress'));
  return supply === null ? refuse(TEXTS.action) : ok(supply.toString());
}

async function getTokenBalance(ask: Ask) {
  const token = needAddress(ask.asked, 'contractaddress');
  const holder = needAddress(ask.asked);
  const data: Hex = `${BALANCE_OF}${holder.slice(2).padStart(64, '0')}`;
  const said = await callToken(ask, token, data);
  if (said !== null) return ok(said.toString());
  const { moment } = ask;
  if (moment === null || isHistoryPartial(moment.head)) return refuse(TEXTS.action);
  const { balances } = await readHoldings(moment.chain.runner, moment.head, holder);
  const balance = balances.get(token) ?? 0n;
  return ok((balance < 0n ? 0n : balance).toString());
}

async function getTokenInfo(ask: Ask) {
  const { asked, moment } = ask;
  const address = needAddress(asked, 'contractaddress');
  const token = moment === null ? undefined : (await listTokens(moment.chain.runner, [address])).get(address);
  if (token === undefined) return listOf([], EMPTY.creations);
  const supply = await readSupply(ask, address);
  return ok([
    {
      contractAddress: address,
      tokenName: token.name ?? '',
      symbol: token.symbol ?? '',
      divisor: token.decimals === null ? '' : String(token.decimals),
      tokenType: 'ERC20',
      totalSupply: supply?.toString() ?? '',
    },
  ]);
}

/** Raw units; null: nothing tells. */
async function readSupply(ask: Ask, token: Hex): Promise<bigint | null> {
  const said = await callToken(ask, token, TOTAL_SUPPLY);
  const { moment } = ask;
  if (said !== null || moment === null || isHistoryPartial(moment.head)) return said;
  return (await listSupplies(moment.chain.runner, moment.head, [token])).get(token) ?? null;
}

/** Null: there is no node, or the contract has no such function. */
async function callToken(ask: Ask, to: Hex, data: Hex): Promise<bigint | null> {
  const answers = await askNode(ask, [{ kind: 'call', to, data }]);
  const answer = answers?.[0] ?? null;
  return answer !== null && answer.length === WORD ? BigInt(answer) : null;
}

async function listTransfers({ asked, moment }: Ask) {
  const holder = findAddressParam(asked);
  const token = findAddressParam(asked, 'contractaddress');
  if (holder === null && token === null) throw badParam(TEXTS.noAddress);
  const sort = (textOf(asked, 'sort') ?? 'asc').toLowerCase();
  if (sort !== 'asc' && sort !== 'desc') throw badFormat('sort');
  const { skip, limit } = readPage(asked, PAGE_MAX);
  const fromBlock = readBlock(asked, 'startblock', moment?.head ?? null) ?? 0;
  const toBlock = readBlock(asked, 'endblock', moment?.head ?? null);
  if (moment === null) return listOf([], EMPTY.transfers);
  const tokens = token === null && holder !== null ? await listTouched(moment, holder) : [];
  const addresses = token === null ? tokens : [token];
  if (addresses.length === 0) return listOf([], EMPTY.transfers);
  if (addresses.length > TOKENS_MAX) return refuse(TEXTS.timeout);
  const side: Hex | null = holder === null ? null : `0x${holder.slice(2).padStart(64, '0')}`;
  const filter: LogFilter = {
    ...ALL_LOGS,
    addresses,
    topics: [[TRANSFER], [], [], []],
    either: side === null ? [] : [[{ place: 1, topic: side } as const, { place: 2, topic: side } as const]],
    fromBlock,
    toBlock,
  };
  const found = await collect(moment.chain, moment.head, filter, sort === 'desc', skip + limit);
  if (found === null) return refuse(TEXTS.timeout);
  return showTransfers(moment, found.slice(skip, skip + limit));
}

/** Every token that the address ever got or sent. */
async function listTouched({ chain, head }: ChainMoment, holder: Hex): Promise<Hex[]> {
  const { balances } = await readHoldings(chain.runner, head, holder);
  return [...balances.keys()].flatMap((token) => (isHexOfLength(token, 40) ? [token] : []));
}

/** The first transfers of fungible tokens, as many as wanted; null: the search was given up. */
async function collect(
  source: LogSource,
  head: HeadSnapshot,
  filter: LogFilter,
  newestFirst: boolean,
  wanted: number,
): Promise<StoredLog[] | null> {
  const found: StoredLog[] = [];
  let behind: number | null = null;
  for (let turn = 0; turn < TURNS_MAX; turn += 1) {
    const page = { newestFirst, behind, skip: 0, limit: PAGE_MAX };
    const { logs, next } = await listLogs(source, head, filter, page);
    found.push(...logs.filter(({ topics, data }) => topics.length === 3 && data.length === WORD));
    if (next === null || found.length >= wanted) return found;
    if (logs.length < PAGE_MAX) return null;
    behind = next;
  }
  return null;
}

async function showTransfers({ chain, head }: ChainMoment, logs: readonly StoredLog[]) {
  const [hashes, tokens] = await Promise.all([
    chain.hashes.list(
      head,
      logs.map(({ ord }) => blockOfOrd(ord)),
    ),
    listTokens(
      chain.runner,
      logs.map(({ address }) => address),
    ),
  ]);
  return listOf(
    logs.map((log) => toTransfer(log, hashes, tokens, head)),
    EMPTY.transfers,
  );
}

/** Decimal strings; what only receipts and transactions tell is empty. */
function toTransfer(
  log: StoredLog,
  hashes: ReadonlyMap<number, Hex>,
  tokens: TokenMap,
  head: HeadSnapshot,
): Readonly<Record<string, string>> {
  const number = blockOfOrd(log.ord);
  const { name, symbol, decimals } = tokenOf(tokens, log.address);
  const [, sender = '', recipient = ''] = log.topics;
  return {
    blockNumber: String(number),
    timeStamp: String(log.timestamp),
    hash: log.txHash,
    nonce: '',
    blockHash: hashes.get(number) ?? '',
    from: addressOfWord(sender),
    contractAddress: log.address,
    to: addressOfWord(recipient),
    value: BigInt(log.data).toString(),
    tokenName: name ?? '',
    tokenSymbol: symbol ?? '',
    tokenDecimal: decimals === null ? '' : String(decimals),
    transactionIndex: String(log.txIndex),
    gas: '',
    gasPrice: '',
    gasUsed: '',
    cumulativeGasUsed: '',
    input: 'deprecated',
    confirmations: String(head.number - number),
  };
}
