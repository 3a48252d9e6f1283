/**
 * Recomputes what a block's hash commits to: the header, the transactions and the receipts. Whoever knows the right
 * hash knows then that every field is right, whoever sent it.
 */
import { getCreateAddress } from 'ethers';

import type { ProofLevel } from '../../domain/block';
import { isRecord } from '../rpc/rpcTransport';
import { EncodedList } from './encodedList';
import { encodeHeader, FIELD_SETS, hasFields, UNHASHED_FIELDS } from './encodeHeader';
import { encodeReceipt, isKnownReceipt } from './encodeReceipt';
import { encodeTransaction, readType } from './encodeTransaction';
import { loadKeccak, type Keccak } from './keccak';
import { listRoot } from './listRoot';
import { recoverSender } from './recoverSender';
import { RlpWriter, UnknownFormat } from './rlpWriter';
import { stateSyncHash } from './stateSync';

type Fields = Readonly<Record<string, unknown>>;

/** A block, as a node sent it. `receipts` is null if the node does not give the receipts of a block. */
export interface RawBlock {
  readonly header: Fields;
  readonly receipts: readonly unknown[] | null;
}

/** Why a block does not reach a stronger level. */
export interface ProofFault {
  /** The field that differs, with the sent and the computed value; or the reason why it cannot be computed. */
  readonly text: string;
  /** Whether nothing is wrong, as far as this program can tell: a format is unknown, or the node lacks a part. */
  readonly isUnknown: boolean;
}

export interface BlockProof {
  readonly level: ProofLevel;
  /** Null for `full`. */
  readonly fault: ProofFault | null;
  /** The encoded transactions of the block. Null unless the level is `full`. */
  readonly transactions: EncodedList | null;
}

/**
 * In a block of n transactions, one sender is recovered with the probability n / 1024, at most 1 / 8. This takes about
 * 0.3 ms.
 */
const TRANSACTIONS_PER_SENDER = 1024;
const SENDER_SHARE_MAX = 1 / 8;
/** First type of transactions with a tip and a highest price (EIP-1559). */
const DYNAMIC_FEE = 2;

export class BlockProver {
  private readonly keccak: Keccak;
  private readonly random: () => number;
  /** Writes headers, transactions and receipts; and the nodes of their tries. */
  private readonly itemWriter = new RlpWriter();
  private readonly nodeWriter = new RlpWriter();
  /**
   * The set of header fields that gave the hash of the last block. If it does not give the next block's hash, the
   * other sets are tried.
   */
  private fieldSet = FIELD_SETS[0] ?? [];
  /** Names of the fields that proven headers had. A header with another field may belong to a new fork. */
  private readonly fieldsSeen = new Set(UNHASHED_FIELDS);
  /** The encoded transactions of the block that is being proven. */
  private encoded: EncodedList | null = null;

  private constructor(keccak: Keccak, random: () => number) {
    this.keccak = keccak;
    this.random = random;
  }

  /** `random` chooses the transactions whose sender is recovered. Tests pass their own. */
  static async create(random: () => number = Math.random): Promise<BlockProver> {
    return new BlockProver(await loadKeccak(), random);
  }

  /** Proves as much of the block as its fields allow. */
  prove(block: RawBlock): BlockProof {
    const { header } = block;
    const headerFault = this.headerFault(header);
    if (headerFault !== null) return { level: 'bloom', fault: headerFault, transactions: null };
    const hasStateSync = this.hasStateSync(header);
    const { transactions, receipts } = hasStateSync ? withoutLast(block) : partsOf(block);
    const receiptsFault = asFault(() => this.receiptsFault(header, transactions.length, receipts));
    const transactionsFault = asFault(() => this.transactionsFault(header, transactions, receipts));
    const fault = receiptsFault ?? transactionsFault;
    if (fault !== null) {
      const isUnknown = fault.isUnknown && transactionsFault?.isUnknown !== false;
      const level = receiptsFault === null && !hasStateSync ? 'receipts' : 'headers';
      return { level, fault: { ...fault, isUnknown }, transactions: null };
    }
    if (!hasStateSync) return { level: 'full', fault: null, transactions: this.encoded };
    const text = 'no root contains the state-sync transaction';
    return { level: 'headers', fault: { text, isUnknown: true }, transactions: null };
  }

  /** Whether the last transaction is the state-sync transaction, which no root and no bloom contains. */
  hasStateSync(header: Fields): boolean {
    const transactions = header['transactions'];
    const lastTransaction: unknown = Array.isArray(transactions) ? transactions.at(-1) : undefined;
    const hash = typeof lastTransaction === 'string' ? lastTransaction : fieldOf(lastTransaction, 'hash');
    return (
      hash !== undefined &&
      isSame(hash, stateSyncHash(this.keccak, Number(header['number']), String(header['hash'])))
    );
  }

  /** Null if hashing the fields of the header gives its hash. */
  headerFault(header: Fields): ProofFault | null {
    let computed: string | null = null;
    for (const set of [this.fieldSet, ...FIELD_SETS]) {
      if (!hasFields(header, set)) continue;
      this.itemWriter.clear();
      const fault = asFault(() => {
        encodeHeader(header, set, this.itemWriter);
        return null;
      });
      if (fault !== null) return fault;
      const hash = toHex(this.keccak(this.itemWriter.since(0)));
      if (isSame(header['hash'], hash)) {
        this.fieldSet = set;
        for (const name in header) this.fieldsSeen.add(name);
        return null;
      }
      computed ??= hash;
    }
    const text = differs('hash', header['hash'], computed ?? 'nothing: fields of the header are missing');
    const unseenField = Object.keys(header).find((name) => !this.fieldsSeen.has(name));
    if (unseenField === undefined) return { text, isUnknown: computed === null };
    return { text: `${text}; the field ${shorten(unseenField)} is unknown`, isUnknown: true };
  }

  /**
   * Null if the signature of the encoded transaction gives the stated sender, or if there is no signature. Otherwise
   * the value that differs.
   */
  senderFault(stated: unknown, index: number, encoded: Uint8Array): string | null {
    const fault = asFault(() => {
      const sender = recoverSender(encoded, this.keccak) ?? 'none: the signature is not valid';
      return isSame(stated, sender) ? null : differs(`from of transaction ${index}`, stated, sender);
    });
    return fault === null || fault.isUnknown ? null : fault.text;
  }

  private transactionsFault(
    header: Fields,
    transactions: readonly unknown[],
    receipts: readonly unknown[] | null,
  ): string | null {
    const encoded = this.encodeAll(transactions, encodeTransaction);
    this.encoded = new EncodedList(encoded);
    this.nodeWriter.clear();
    const root = toHex(listRoot(encoded, this.keccak, this.nodeWriter));
    if (!isSame(header['transactionsRoot'], root))
      return differs('transactionsRoot', header['transactionsRoot'], root);
    for (const [index, bytes] of encoded.entries()) {
      const hash = toHex(this.keccak(bytes));
      const stated = fieldOf(transactions[index], 'hash');
      if (!isSame(stated, hash)) return differs(`hash of transaction ${index}`, stated, hash);
    }
    for (const [index, transaction] of transactions.entries()) {
      const receipt = receipts?.[index];
      if (!isRecord(receipt) || !isRecord(transaction)) continue;
      const fault = derivedFault(header, transaction, receipt, index);
      if (fault !== null) return fault;
    }
    const share = Math.min(SENDER_SHARE_MAX, encoded.length / TRANSACTIONS_PER_SENDER);
    if (this.random() >= share) return null;
    const index = Math.floor(this.random() * encoded.length);
    return this.senderFault(fieldOf(transactions[index], 'from'), index, encoded[index] ?? new Uint8Array());
  }

  private receiptsFault(
    header: Fields,
    transactions: number,
    receipts: readonly unknown[] | null,
  ): string | null {
    if (receipts === null) throw new UnknownFormat('the endpoint gives no receipts of a block');
    const encoded = this.encodeAll(receipts, encodeReceipt);
    this.nodeWriter.clear();
    const root = toHex(listRoot(encoded, this.keccak, this.nodeWriter));
    if (!isSame(header['receiptsRoot'], root)) {
      const text = differs('receiptsRoot', header['receiptsRoot'], root);
      const unknownReceipt = receipts.find((receipt) => isRecord(receipt) && !isKnownReceipt(receipt));
      if (unknownReceipt === undefined) return text;
      throw new UnknownFormat(
        `${text}; receipts of type ${String(fieldOf(unknownReceipt, 'type'))} are unknown`,
      );
    }
    let gasBefore = 0n;
    // The receipt after the last transaction's receipt has the logs of the block itself, and used no gas.
    for (const [index, receipt] of receipts.slice(0, transactions).entries()) {
      const gasTotal = BigInt(String(fieldOf(receipt, 'cumulativeGasUsed')));
      const fault = checkField(receipt, 'gasUsed', `0x${(gasTotal - gasBefore).toString(16)}`, index);
      if (fault !== null) return fault;
      gasBefore = gasTotal;
    }
    return null;
  }

  private encodeAll(
    items: readonly unknown[],
    encode: (item: Fields, into: RlpWriter) => void,
  ): Uint8Array[] {
    this.itemWriter.clear();
    return items.map((item) => {
      if (!isRecord(item)) throw new UnknownFormat('the node gives transactions without their fields');
      const mark = this.itemWriter.size;
      encode(item, this.itemWriter);
      return this.itemWriter.since(mark);
    });
  }
}

interface Parts {
  readonly transactions: readonly unknown[];
  readonly receipts: readonly unknown[] | null;
}

function partsOf({ header, receipts }: RawBlock): Parts {
  const transactions = header['transactions'];
  return { transactions: Array.isArray(transactions) ? transactions : [], receipts };
}

/** The parts of the block without its last transaction and the receipt of this transaction. */
function withoutLast(block: RawBlock): Parts {
  const { transactions, receipts } = partsOf(block);
  const count = transactions.length - 1;
  return { transactions: transactions.slice(0, count), receipts: receipts?.slice(0, count) ?? null };
}

/** Null if the receipt lacks the field, or has the computed value. */
function checkField(receipt: unknown, name: string, computed: string, index: number): string | null {
  const stated = fieldOf(receipt, name);
  const isRight = stated === undefined || stated === null || isSame(stated, computed);
  return isRight ? null : differs(`${name} of receipt ${index}`, stated, computed);
}

/**
 * Checks the fields of a receipt that are not part of its encoding, but follow from the transaction. A receipt of a
 * successful creation must name the contract.
 */
function derivedFault(header: Fields, transaction: Fields, receipt: Fields, index: number): string | null {
  const from = String(transaction['from']).toLowerCase();
  const price = `0x${gasPriceOf(header, transaction).toString(16)}`;
  const fault =
    checkField(receipt, 'from', from, index) ?? checkField(receipt, 'effectiveGasPrice', price, index);
  if (fault !== null) return fault;
  const isCreation = transaction['to'] === null || transaction['to'] === undefined;
  const stated = receipt['contractAddress'] ?? null;
  const isLeftOut = stated === null && !(isCreation && receipt['status'] === '0x1');
  if (isLeftOut) return null;
  const created = isCreation
    ? getCreateAddress({ from, nonce: BigInt(String(transaction['nonce'])) }).toLowerCase()
    : 'none';
  return isSame(stated, created) ? null : differs(`contractAddress of receipt ${index}`, stated, created);
}

/** The price that the transaction paid per gas, from its own fields and the base fee. */
function gasPriceOf(header: Fields, transaction: Fields): bigint {
  if (readType(transaction) < DYNAMIC_FEE) return BigInt(String(transaction['gasPrice']));
  const baseFee = BigInt(String(header['baseFeePerGas']));
  const uncappedPrice = baseFee + BigInt(String(transaction['maxPriorityFeePerGas']));
  const maxFee = BigInt(String(transaction['maxFeePerGas']));
  return uncappedPrice < maxFee ? uncappedPrice : maxFee;
}

/** Returns the fault that `find` returns, or the reason why a value of the node cannot be encoded. */
function asFault(find: () => string | null): ProofFault | null {
  try {
    const text = find();
    return text === null ? null : { text, isUnknown: false };
  } catch (error) {
    // Every value comes from the node: a value that cannot be read proves nothing.
    if (error instanceof Error)
      return { text: shorten(error.message, 300), isUnknown: error instanceof UnknownFormat };
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

function shorten(text: string, max = 100): string {
  return text.length <= max ? text : `${text.slice(0, max)}…`;
}
