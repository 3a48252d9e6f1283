/**
 * Decides to which code on the chain an imported record belongs. The node's current code must equal the code that was
 * verified. A record of chain 1 is also used for a chain that was copied from chain 1, if the code there is the
 * same.
 */
import { createHash } from 'node:crypto';

import type { Hex } from '../../domain/hex';
import type { ChainCode } from '../chainCode';
import { hashCode, type VerifiedRecord } from '../verifiedRecord';
import { BrokenRecord, type ImportedRecord } from './foundContract';

/** Chains 369 and 943 started as copies of this chain. */
export const ANCESTOR_CHAIN = 1;

type AttachedCode = { readonly records: readonly VerifiedRecord[] } | { readonly broken: string };

/**
 * For each imported record: the records to store, or the reason why none is stored. `descendants` are the chains
 * copied from chain 1.
 */
export async function attachCodes(
  records: readonly ImportedRecord[],
  chain: ChainCode,
  descendants: readonly number[],
): Promise<AttachedCode[]> {
  const codes = new Map<string, Hex>();
  const addressesByChain = new Map<number, Set<Hex>>();
  for (const { contract } of records) {
    const chainIds =
      contract.chainId === ANCESTOR_CHAIN ? [ANCESTOR_CHAIN, ...descendants] : [contract.chainId];
    for (const chainId of chainIds.filter((id) => chain.knows(id)))
      addressesByChain.set(chainId, (addressesByChain.get(chainId) ?? new Set()).add(contract.address));
  }
  for (const [chainId, addresses] of addressesByChain) {
    const addressList = [...addresses];
    for (const [index, code] of (await chain.listCodes(chainId, addressList)).entries()) {
      if (code !== null) codes.set(`${chainId} ${addressList[index] ?? ''}`, code);
    }
  }
  return records.map((record) => {
    const codeOf = (chainId: number): Hex | null =>
      codes.get(`${chainId} ${record.contract.address}`) ?? null;
    try {
      const isAncestor = record.contract.chainId === ANCESTOR_CHAIN;
      return {
        records: isAncestor ? attachAncestor(record, codeOf, descendants) : [attachOwn(record, codeOf)],
      };
    } catch (error) {
      if (error instanceof BrokenRecord) return { broken: error.message };
      throw error;
    }
  });
}

type CodeOf = (chainId: number) => Hex | null;

function attachOwn(record: ImportedRecord, codeOf: CodeOf): VerifiedRecord {
  const ownCode = codeOf(record.contract.chainId);
  if (ownCode === '0x') throw new BrokenRecord('the address has no code on the chain');
  const { runtimeCode } = record;
  if (ownCode !== null && runtimeCode !== null && ownCode !== runtimeCode)
    throw new BrokenRecord('the code on the chain differs from the verified code');
  const code = ownCode ?? runtimeCode;
  return withCode(record, code === null || code === '0x' ? null : hashCode(code));
}

function attachAncestor(
  record: ImportedRecord,
  codeOf: CodeOf,
  descendants: readonly number[],
): VerifiedRecord[] {
  const ancestorCode = codeOf(ANCESTOR_CHAIN) ?? record.runtimeCode;
  const records: VerifiedRecord[] = [];
  if (ancestorCode !== null && ancestorCode !== '0x') records.push(withCode(record, hashCode(ancestorCode)));
  for (const chainId of descendants) {
    const ownCode = codeOf(chainId);
    if (ownCode === null || ownCode === '0x') continue;
    if (ancestorCode === null ? !isNamedBy(ownCode, record) : ownCode !== ancestorCode) continue;
    const contract = { ...record.contract, chainId, source: 'ancestor:1' as const };
    records.push(withCode({ ...record, contract }, hashCode(ownCode)));
  }
  if (records.length === 0)
    throw new BrokenRecord(
      'chain 1 has no known code at the address, and no chain copied from chain 1 has code with the hash of the metadata',
    );
  return records;
}

function withCode(record: ImportedRecord, codeHash: Hex | null): VerifiedRecord {
  const { contract, deployment, sources, outputs } = record;
  return { contract, deployment, sources, codeHash, ...(outputs === undefined ? {} : { outputs }) };
}

/** Size in bytes from which IPFS splits a file into several pieces. Metadata files are never that large. */
const IPFS_CHUNK = 262_144;

/**
 * Whether the code contains the hash of the record's metadata file. The hash proves an exact match without the code of
 * chain 1.
 */
function isNamedBy(code: Hex, { contract, metadataText }: ImportedRecord): boolean {
  if (metadataText === null || contract.status !== 'exact_match') return false;
  const bytes = Buffer.from(metadataText, 'utf8');
  return bytes.length <= IPFS_CHUNK && code.includes(`64697066735822${ipfsHash(bytes)}`);
}

/**
 * The multihash of a file that IPFS does not split: SHA-256 of a UnixFS node in DAG-PB.
 * https://docs.soliditylang.org/en/latest/metadata.html
 */
function ipfsHash(bytes: Buffer): string {
  const length = varint(bytes.length);
  const file = Buffer.concat([Buffer.from([0x08, 0x02, 0x12]), length, bytes, Buffer.from([0x18]), length]);
  const node = Buffer.concat([Buffer.from([0x0a]), varint(file.length), file]);
  return `1220${createHash('sha256').update(node).digest('hex')}`;
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  for (let remaining = value; ; remaining = Math.floor(remaining / 128)) {
    if (remaining < 128) return Buffer.from([...bytes, remaining]);
    bytes.push((remaining % 128) | 0x80);
  }
}
