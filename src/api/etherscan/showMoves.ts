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
import type { ChainMoment } from '../explorerScope';
import type { DialectAnswer } from './action';
import { EMPTY, listOf } from './answers';
import { ERC1155, ERC20, type TokenKind, type TokenMove } from './tokenMoves';

export async function showMoves(
  { chain, head }: ChainMoment,
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
  const nameless = moves.flatMap(({ log }) => (tokens.has(log.address) ? [] : [log.address]));
  const names = await askNames(node, head, nameless);
  const items = moves.map(({ log, move }) => {
    const number = blockOfOrd(log.ord);
    const gas = gasOf(log);
    return {
      ...placeOf(log, number, hashes),
      from: move.from,
      contractAddress: log.address,
      to: move.to,
      ...valueOf(kind, move, { ...tokenOf(tokens, log.address), ...names.get(log.address) }),
      transactionIndex: String(log.txIndex),
      gas: '',
      gasPrice: String(gas.price ?? ''),
      gasUsed: String(gas.used ?? ''),
      cumulativeGasUsed: '',
      input: 'deprecated',
      confirmations: String(head.number - number),
    };
  });
  return listOf(items, EMPTY.transfers);
}

function placeOf(log: StoredLog, number: number, hashes: ReadonlyMap<number, Hex>) {
  return {
    blockNumber: String(number),
    timeStamp: String(log.timestamp),
    hash: log.txHash,
    nonce: '',
    blockHash: hashes.get(number) ?? '',
  };
}

/** Each token standard has its own field names. */
function valueOf(
  kind: TokenKind,
  { amount, tokenId }: TokenMove,
  { name, symbol, decimals }: Token,
): Readonly<Record<string, string>> {
  const names = { tokenName: name ?? '', tokenSymbol: symbol ?? '' };
  if (kind === ERC20)
    return {
      value: String(amount),
      ...names,
      tokenDecimal: decimals === null ? '' : String(decimals),
    };
  if (kind === ERC1155) return { tokenID: String(tokenId), tokenValue: String(amount), ...names };
  return { tokenID: String(tokenId), ...names, tokenDecimal: '0' };
}
