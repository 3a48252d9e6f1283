/** Token transfers of one account or one contract, from the logs: ERC-20, ERC-721 and ERC-1155. */
import { isHexOfLength, type Hex } from '../../../domain/hex';
import { createSlices } from '../../../domain/time/slices';
import { readHoldings } from '../../../query/holders/balances';
import type { HeadSnapshot } from '../../../query/head/headSnapshot';
import { LIST_BOUNDS } from '../../../query/logs/logBytes';
import { ALL_LOGS, type LogFilter, type LogSource } from '../../../query/logs/logFilter';
import { listLogs, type StoredLog, requireLogs } from '../../../query/logs/logs';
import { listNftMoves, type MoveQuestion } from '../../../query/logs/nftMoves';
import type { ChainAtHead } from '../../explorerScope';
import type { Action, Actions, Ask } from '../action';
import { dialectError, EMPTY_TEXTS, listAnswer, refuse, TEXTS } from '../answers';
import { badFormat, findAddressParam, readPage, textOf, type AskedParams } from '../askedParams';
import { readBlock } from './logActions';
import { ERC1155, ERC20, ERC721, type TokenKind, type TokenMove } from '../tokenMoves';
import { showMoves } from '../showMoves';

/** Etherscan's limit of page times offset: the whole list may be one page. */
const PAGE_MAX = 10_000;
/** Largest number of logs per read. */
const LOGS_PER_READ = 1_000;
/**
 * Largest number of reads for one page. A read also returns logs of other token standards, which do not belong on the
 * page.
 */
const READS_MAX = 12;
/** Largest number of tokens of one address for which transfers are searched. */
const TOKENS_MAX = 300;

export const transferActions: Actions = new Map<string, Action>([
  ['tokentx', (ask) => listTransfers(ask, ERC20)],
  ['tokennfttx', (ask) => listTransfers(ask, ERC721)],
  ['token1155tx', (ask) => listTransfers(ask, ERC1155)],
]);

interface TransferQuestion {
  /** Account of the transfers; null means every account. At least one of `holder` and `token` is given. */
  readonly holder: Hex | null;
  /** Token of the transfers; null means every token. */
  readonly token: Hex | null;
  readonly newestFirst: boolean;
  readonly skip: number;
  readonly limit: number;
  readonly fromBlock: number;
  /** Last block whose transfers are listed; null means up to the head. */
  readonly toBlock: number | null;
}

async function listTransfers({ deps, asked, chainId, chainAtHead }: Ask, kind: TokenKind) {
  const question = readQuestion(asked, chainAtHead);
  if (chainAtHead === null) return listAnswer([], EMPTY_TEXTS.transfers);
  requireLogs(chainAtHead.head);
  const moves = await findMoves(chainAtHead, kind, question);
  if (moves === null) return refuse(TEXTS.timeout);
  const { skip, limit } = question;
  return showMoves(chainAtHead, deps.nodeOf?.(chainId) ?? null, kind, moves.slice(skip, skip + limit));
}

function readQuestion(asked: AskedParams, chainAtHead: ChainAtHead | null): TransferQuestion {
  const holder = findAddressParam(asked);
  const token = findAddressParam(asked, 'contractaddress');
  if (holder === null && token === null) throw dialectError(TEXTS.noAddress);
  const sort = (textOf(asked, 'sort') ?? 'asc').toLowerCase();
  if (sort !== 'asc' && sort !== 'desc') throw badFormat('sort');
  const { skip, limit } = readPage(asked, PAGE_MAX);
  const fromBlock = readBlock(asked, 'startblock', chainAtHead?.head ?? null) ?? 0;
  const toBlock = readBlock(asked, 'endblock', chainAtHead?.head ?? null);
  return { holder, token, newestFirst: sort === 'desc', skip, limit, fromBlock, toBlock };
}

/** The first transfers, at least up to the end of the page. Null if the search would take too long. */
async function findMoves(
  chainAtHead: ChainAtHead,
  kind: TokenKind,
  { holder, token, newestFirst, skip, limit, fromBlock, toBlock }: TransferQuestion,
): Promise<FoundMove[] | null> {
  const movesMax = skip + limit;
  if (kind === ERC721 && token === null && holder !== null)
    return collectNfts(chainAtHead, { holder, fromBlock, toBlock, newestFirst, movesWanted: movesMax });
  // For ERC-20, the tables list the tokens of an address. For the other standards, the topics alone are enough to
  // find the transfers.
  const touchedTokens =
    token === null && holder !== null && kind === ERC20 ? await listTouchedTokens(chainAtHead, holder) : null;
  if (touchedTokens?.length === 0) return [];
  if (touchedTokens !== null && touchedTokens.length > TOKENS_MAX) return null;
  const filter: LogFilter = {
    ...ALL_LOGS,
    addresses: token === null ? (touchedTokens ?? []) : [token],
    topics: [kind.topics0, [], [], []],
    either: holder === null ? [] : [holderClause(kind, holder)],
    fromBlock,
    toBlock,
  };
  return collectMoves(chainAtHead, filter, kind, newestFirst, movesMax);
}

function holderClause({ from, to }: TokenKind, holder: Hex): LogFilter['either'][number] {
  const topic: Hex = `0x${holder.slice(2).padStart(64, '0')}`;
  return [
    { position: from, topic },
    { position: to, topic },
  ];
}

/** Every token that the address has ever received or sent. */
async function listTouchedTokens({ chain, head }: ChainAtHead, holder: Hex): Promise<Hex[]> {
  const { balances } = await readHoldings(chain.runner, head, holder);
  return [...balances.keys()].flatMap((token) => (isHexOfLength(token, 40) ? [token] : []));
}

interface FoundMove {
  readonly log: StoredLog;
  readonly move: TokenMove;
}

/** Transfers of all NFT contracts. ERC-20 transfers share the topic and are filtered out. */
async function collectNfts(
  { chain, head }: ChainAtHead,
  question: MoveQuestion,
): Promise<FoundMove[] | null> {
  const logs = await listNftMoves(chain, head, question);
  return logs?.flatMap((log) => ERC721.read(log).map((move) => ({ log, move }))) ?? null;
}

/** The first transfers of this kind, up to `movesMax`. Null if the search stopped early at its time limit. */
async function collectMoves(
  { chain, head }: { readonly chain: LogSource; readonly head: HeadSnapshot },
  filter: LogFilter,
  kind: TokenKind,
  newestFirst: boolean,
  movesMax: number,
): Promise<FoundMove[] | null> {
  const moves: FoundMove[] = [];
  const slices = createSlices();
  const bounds = { ...LIST_BOUNDS, dataMax: kind.dataMax };
  let afterOrd: number | null = null;
  for (let readCount = 0; readCount < READS_MAX; readCount += 1) {
    const page = { newestFirst, afterOrd, skip: 0, limit: LOGS_PER_READ, bounds };
    const { logs, nextOrd, isFull } = await listLogs(chain, head, filter, page);
    for (const log of logs) {
      moves.push(...kind.read(log).map((move) => ({ log, move })));
      if (slices.isOver()) await slices.giveWay();
    }
    if (nextOrd === null || moves.length >= movesMax) return moves;
    if (logs.length < LOGS_PER_READ && !isFull) return null;
    afterOrd = nextOrd;
  }
  return null;
}
