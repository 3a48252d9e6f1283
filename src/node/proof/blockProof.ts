/**
 * Recomputes what a block's hash commits to: the header, the transactions and the receipts. Whoever knows the right
 * hash knows then that every field is right, whoever sent it.
 */
import { getCreateAddress } from 'ethers';

import type { ProofLevel } from '../../domain/block';
import { isRecord } from '../rpc/rpcTransport';
import { EncodedList } from './encodedList';
import { encodeHeader, FIELD_SETS, hasFields } from './encodeHeader';
import { encodeReceipt } from './encodeReceipt';
import { encodeTransaction, readType } from './encodeTransaction';
import { loadKeccak, type Keccak } from './keccak';
import { listRoot } from './listRoot';
import { recoverSender } from './recoverSender';
import { EncodeError, RlpWriter } from './rlpWriter';

type Fields = Readonly<Record<string, unknown>>;

/** A block, as a node sent it. `receipts` is null if the node does not give the receipts of a block. */
export interface RawBlock {
  readonly header: Fields;
  readonly receipts: readonly unknown[] | null;
}

export interface BlockProof {
  readonly level: ProofLevel;
  /**
   * Why the block does not reach a stronger level, such as the field that differs, with the sent and the computed
   * value. Null for `full`.
   */
  readonly fault: string | null;
  /** The encoded transactions of the block. Null unless the level is `full`. */
  readonly transactions: EncodedList | null;
}

/**
 * In a block of n transactions, one sender is recovered with the probability n / 1024, at most 1 / 8. This takes about
 * 0.7 ms, as long as proving a hundred logs.
 */
const TRANSACTIONS_PER_SENDER = 1024;
const SENDER_SHARE_MAX = 1 / 8;

export class BlockProver {
  private readonly keccak: Keccak;
  private readonly random: () => number;
  private readonly values = new RlpWriter();
  private readonly nodes = new RlpWriter();
  /**
   * The set of header fields that gave the hash of the last block. If it does not give the next block's hash, the
   * other sets are tried.
   */
  private fieldSet = FIELD_SETS[0] ?? [];
  /** The encoded transactions of the block that is being proven. */
  private encoded: EncodedList | null = null;

  private constructor(keccak: Keccak, random: () => number) {
    this.keccak = keccak;
    this.random = random;
  }

  /** `random` chooses the transactions whose sender is recovered. */
  static async create(random: () => number = Math.random): Promise<BlockProver> {
    return new BlockProver(await loadKeccak(), random);
  }

  /** Proves as much of the block as its fields allow. */
  prove({ header, receipts }: RawBlock): BlockProof {
    const fault = this.headerFault(header);
    if (fault !== null) return { level: 'bloom', fault, transactions: null };
    const other = asFault(() => this.contentFault(header, receipts));
    if (other !== null) return { level: 'headers', fault: other, transactions: null };
    return { level: 'full', fault: null, transactions: this.encoded };
  }

  /** Null if hashing the fields of the header gives its hash, otherwise the value that differs. */
  headerFault(header: Fields): string | null {
    let computed: string | null = null;
    for (const set of [this.fieldSet, ...FIELD_SETS]) {
      if (!hasFields(header, set)) continue;
      this.values.clear();
      const fault = asFault(() => {
        encodeHeader(header, set, this.values);
        return null;
      });
      if (fault !== null) return fault;
      const hash = toHex(this.keccak(this.values.since(0)));
      if (isSame(header['hash'], hash)) {
        this.fieldSet = set;
        return null;
      }
      computed ??= hash;
    }
    return differs('hash', header['hash'], computed ?? 'nothing: fields of the header are missing');
  }

  private contentFault(header: Fields, receipts: readonly unknown[] | null): string | null {
    const transactions = header['transactions'];
    if (!Array.isArray(transactions)) return 'transactions is not a list';
    const fault = this.transactionsFault(header, transactions);
    if (fault !== null) return fault;
    if (receipts === null) return 'the endpoint gives no receipts of a block';
    return this.receiptsFault(header, transactions, receipts);
  }

  private transactionsFault(header: Fields, transactions: readonly unknown[]): string | null {
    const encoded = this.encodeAll(transactions, encodeTransaction);
    this.encoded = new EncodedList(encoded);
    this.nodes.clear();
    const root = toHex(listRoot(encoded, this.keccak, this.nodes));
    if (!isSame(header['transactionsRoot'], root))
      return differs('transactionsRoot', header['transactionsRoot'], root);
    for (const [index, bytes] of encoded.entries()) {
      const hash = toHex(this.keccak(bytes));
      const stated = fieldOf(transactions[index], 'hash');
      if (!isSame(stated, hash)) return differs(`hash of transaction ${index}`, stated, hash);
    }
    const share = Math.min(SENDER_SHARE_MAX, encoded.length / TRANSACTIONS_PER_SENDER);
    if (this.random() >= share) return null;
    const index = Math.floor(this.random() * encoded.length);
    return senderFault(fieldOf(transactions[index], 'from'), index, encoded[index] ?? new Uint8Array());
  }

  private receiptsFault(
    header: Fields,
    transactions: readonly unknown[],
    receipts: readonly unknown[],
  ): string | null {
    const encoded = this.encodeAll(receipts, encodeReceipt);
    this.nodes.clear();
    const root = toHex(listRoot(encoded, this.keccak, this.nodes));
    if (!isSame(header['receiptsRoot'], root)) return differs('receiptsRoot', header['receiptsRoot'], root);
    let before = 0n;
    // The receipt after the last transaction's receipt has the logs of the block itself, and no other values to check.
    for (const [index, receipt] of receipts.slice(0, transactions.length).entries()) {
      const transaction = transactions[index];
      if (!isRecord(receipt) || !isRecord(transaction)) return `receipt ${index} has no transaction`;
      const total = BigInt(String(receipt['cumulativeGasUsed']));
      const fault = derivedFault(header, transaction, receipt, total - before, index);
      if (fault !== null) return fault;
      before = total;
    }
    return null;
  }

  private encodeAll(
    items: readonly unknown[],
    encode: (item: Fields, into: RlpWriter) => void,
  ): Uint8Array[] {
    this.values.clear();
    return items.map((item) => {
      if (!isRecord(item)) throw new EncodeError('the node gives transactions without their fields');
      const mark = this.values.size;
      encode(item, this.values);
      return this.values.since(mark);
    });
  }
}

/** Checks the fields of a receipt that are not part of its encoding, but follow from the proven values. */
function derivedFault(
  header: Fields,
  transaction: Fields,
  receipt: Fields,
  gasUsed: bigint,
  index: number,
): string | null {
  const check = (name: string, computed: string): string | null => {
    const stated = receipt[name];
    const isEqual = stated === undefined || stated === null || isSame(stated, computed);
    return isEqual ? null : differs(`${name} of receipt ${index}`, stated, computed);
  };
  const from = String(transaction['from']).toLowerCase();
  const isCreation = transaction['to'] === null || transaction['to'] === undefined;
  const created = receipt['contractAddress'];
  let fault =
    check('gasUsed', `0x${gasUsed.toString(16)}`) ??
    check('from', from) ??
    check('effectiveGasPrice', `0x${gasPriceOf(header, transaction).toString(16)}`);
  if (fault !== null || created === null || created === undefined) return fault;
  if (!isCreation) fault = differs(`contractAddress of receipt ${index}`, created, 'none');
  else
    fault = check(
      'contractAddress',
      getCreateAddress({ from, nonce: BigInt(String(transaction['nonce'])) }).toLowerCase(),
    );
  return fault;
}

/** The price that the transaction paid per gas, from its own fields and the base fee. */
function gasPriceOf(header: Fields, transaction: Fields): bigint {
  if (readType(transaction) < 2) return BigInt(String(transaction['gasPrice']));
  const base = BigInt(String(header['baseFeePerGas']));
  const wanted = base + BigInt(String(transaction['maxPriorityFeePerGas']));
  const most = BigInt(String(transaction['maxFeePerGas']));
  return wanted < most ? wanted : most;
}

/** Null if the signature of the encoded transaction gives the stated sender, otherwise the value that differs. */
export function senderFault(stated: unknown, index: number, encoded: Uint8Array): string | null {
  return asFault(() => {
    const sender = recoverSender(encoded) ?? 'none: the signature is not valid';
    return isSame(stated, sender.toLowerCase())
      ? null
      : differs(`from of transaction ${index}`, stated, sender);
  });
}

/** Returns the fault that `find` returns, or the reason why a value of the node cannot be encoded. */
function asFault(find: () => string | null): string | null {
  try {
    return find();
  } catch (error) {
    // Every value comes from the node: a value that cannot be read proves nothing.
    if (error instanceof Error) return shorten(error.message);
    throw error;
  }
}

function fieldOf(item: unknown, name: string): unknown {
  return isRecord(item) ? item[name] : undefined;
}

function isSame(stated: unknown, computed: string): boolean {
  return stated === computed || (typeof stated === 'string' && stated.toLowerCase() === computed);
}

function toHex(bytes: Uint8Array): string {
  return `0x${Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('hex')}`;
}

function differs(field: string, stated: unknown, computed: string): string {
  return `${field} is ${shorten(String(stated))}, computed ${computed}`;
}

function shorten(text: string): string {
  return text.length <= 100 ? text : `${text.slice(0, 100)}…`;
}
