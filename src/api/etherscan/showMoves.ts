/**
 * Formats token transfers in the Etherscan dialect, as decimal strings. Fields of transactions are empty where they are
 * not stored.
 */
import type { Hex } from '../../domain/hex';
import type { AccountState } from '../../domain/accountState';
import { blockOfOrd } from '../../domain/ord';
import type { StoredLog } from '../../query/logs/logs';
import { readGas } from '../../query/logs/transactionGas';
import { askNames } from '../../query/contracts/askNames';
import { listTokens, tokenOf } from '../../query/tokens/tokens';
import type { Token } from '../../wire/primitives';
import type { ChainAtHead } from '../explorerScope';
import type { DialectAnswer } from './action';
import { EMPTY_TEXTS, listAnswer } from './answers';
import { ERC1155, ERC20, type TokenKind, type TokenMove } from './tokenMoves';

export async function showMoves(
  { chain, head }: ChainAtHead,
  node: AccountState | null,
  kind: TokenKind,
  moves: readonly { readonly log: StoredLog; readonly move: TokenMove }[],
): Promise<DialectAnswer> {
  const [hashes, tokens, gasOf] = await Promise.all([
    chain.hashes.list(
      head,
      moves.map(({ log }) => blockOfOrd(log.ord)),
    ),
    listTokens(
      chain.runner,
      moves.map(({ log }) => log.address),
    ),
    readGas(
      chain,
      head,
      moves.map(({ log }) => log),
    ),
  ]);
  const unnamedContracts = moves.flatMap(({ log }) => (tokens.has(log.address) ? [] : [log.address]));
  const namesByContract = await askNames(node, head, unnamedContracts);
  const items = moves.map(({ log, move }) => {
    const blockNumber = blockOfOrd(log.ord);
    const gas = gasOf(log);
    return {
      ...blockFields(log, blockNumber, hashes),
      from: move.from,
      contractAddress: log.address,
      to: move.to,
      ...tokenFields(kind, move, { ...tokenOf(tokens, log.address), ...namesByContract.get(log.address) }),
      transactionIndex: String(log.txIndex),
      gas: '',
      gasPrice: String(gas.price ?? ''),
      gasUsed: String(gas.used ?? ''),
      cumulativeGasUsed: '',
      input: 'deprecated',
      confirmations: String(head.number - blockNumber),
    };
  });
  return listAnswer(items, EMPTY_TEXTS.transfers);
}

function blockFields(log: StoredLog, blockNumber: number, hashes: ReadonlyMap<number, Hex>) {
  return {
    blockNumber: String(blockNumber),
    timeStamp: String(log.timestamp),
    hash: log.txHash,
    nonce: '',
    blockHash: hashes.get(blockNumber) ?? '',
  };
}

/** Each token standard has its own field names. */
function tokenFields(
  kind: TokenKind,
  { amount, tokenId }: TokenMove,
  { name, symbol, decimals }: Token,
): Readonly<Record<string, string>> {
  const nameFields = { tokenName: name ?? '', tokenSymbol: symbol ?? '' };
  if (kind === ERC20)
    return {
      value: String(amount),
      ...nameFields,
      tokenDecimal: decimals === null ? '' : String(decimals),
    };
  if (kind === ERC1155) return { tokenID: String(tokenId), tokenValue: String(amount), ...nameFields };
  return { tokenID: String(tokenId), ...nameFields, tokenDecimal: '0' };
}
