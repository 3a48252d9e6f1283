/**
 * Reads verified contracts from a folder in the layout of Sourcify's repository:
 * contracts/{full_match|partial_match}/{chain}/{address} with metadata.json and sources/. Version 1 names sources by
 * path, version 2 by hash; this reader finds both by hash. https://docs.sourcify.dev/docs/repository/
 */
import { constants } from 'node:fs';
import { lstat, open, readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';

import { isAddress, isHash, toLowerHex, type Hex } from '../../domain/hex';
import { mapByHash } from '../../domain/texts/textThread';
import type { VerificationStatus } from '../../domain/verifiedContract';
import { AppError } from '../../errors';
import {
  BrokenRecord,
  checkLimits,
  FILE_BYTES_MAX,
  FILES_MAX,
  readBytes,
  type ContractSource,
  type FoundContract,
  type ImportedRecord,
} from './foundContract';
import { readMetadata } from './metadata';

const MATCHES: readonly (readonly [folder: string, status: VerificationStatus])[] = [
  ['full_match', 'exact_match'],
  ['partial_match', 'match'],
];
const METADATA_BYTES_MAX = 16 * 2 ** 20;

/** Opens the repository, its `contracts` folder or a parent. Throws bad_config for any other folder. */
export async function openSourcifyFolder(
  folder: string,
  chainIds: readonly number[],
): Promise<ContractSource> {
  const root = await findRoot(folder);
  return {
    key: `folder ${root} ${chainIds.join(',')}`,
    appendsOnly: false,
    async *list(position) {
      for (const [match, status] of MATCHES) {
        for (const chainId of chainIds) {
          const path = join(root, match, String(chainId));
          for (const name of (await isLinked(join(root, match), path)) ? [] : await listSorted(path)) {
            const ownPosition = `${match}/${chainId}/${name}`;
            if (!isAddress(name) || (position !== null && !isBehind(ownPosition, position, chainIds)))
              continue;
            yield toFound(join(path, name), ownPosition, { chainId, address: toLowerHex(name), status });
          }
        }
      }
    },
  };
}

/** Whether one of the folders is a symbolic link. Links could lead out of the repository. */
async function isLinked(...paths: readonly string[]): Promise<boolean> {
  const fileStats = await Promise.all(paths.map((path) => lstat(path).catch(() => null)));
  return fileStats.some((stats) => stats?.isSymbolicLink() === true);
}

async function findRoot(folder: string): Promise<string> {
  for (const subfolder of ['contracts', '.', 'repository/contracts']) {
    const root = join(folder, subfolder);
    const names = await readdir(root).catch((): string[] => []);
    if (MATCHES.some(([match]) => names.includes(match))) return root;
  }
  throw new AppError(
    'bad_config',
    `${folder} is not a Sourcify repository: contracts/full_match and contracts/partial_match are missing`,
  );
}

/** Names in a folder, sorted. Empty if the folder does not exist. */
async function listSorted(path: string): Promise<string[]> {
  const names = await readdir(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  return names.sort();
}

const matchIndex = (name: string): number => MATCHES.findIndex(([match]) => match === name);

/** Whether a position comes after another in the order of `list`. */
function isBehind(position: string, other: string, chainIds: readonly number[]): boolean {
  const [match = '', chain, name = ''] = position.split('/');
  const [otherMatch = '', otherChain, otherName = ''] = other.split('/');
  const matchOrder = matchIndex(match) - matchIndex(otherMatch);
  if (matchOrder !== 0) return matchOrder > 0;
  const chainOrder = chainIds.indexOf(Number(chain)) - chainIds.indexOf(Number(otherChain));
  return chainOrder === 0 ? name > otherName : chainOrder > 0;
}

type Facts = Pick<FoundContract, 'chainId' | 'address' | 'status'>;

function toFound(folder: string, position: string, facts: Facts): FoundContract {
  return { ...facts, position, read: () => readContract(folder, facts) };
}

async function readContract(folder: string, facts: Facts): Promise<ImportedRecord> {
  await checkFolder(folder);
  const file = await readPlainFile(join(folder, 'metadata.json'), METADATA_BYTES_MAX);
  if (file === null) throw new BrokenRecord('the file metadata.json is missing');
  const text = decode(file.content, 'metadata.json');
  const files = await readSources(join(folder, 'sources'));
  const verifiedAt = Math.floor(file.changedMs / 1_000);
  const record = await readMetadata(text, { ...facts, verifiedAt }, (hash) => files.get(hash) ?? null);
  const constructorArguments = readBytes(await readSmall(join(folder, 'constructor-args.txt')));
  const transaction = readBytes(await readSmall(join(folder, 'creator-tx-hash.txt')));
  return checkLimits({
    ...record,
    deployment: { ...record.deployment, transaction: isHash(transaction) ? transaction : null },
    contract: {
      ...record.contract,
      constructorArguments: constructorArguments ?? record.contract.constructorArguments,
    },
  });
}

/** Contents of all files below a folder, by hash. */
async function readSources(folder: string): Promise<ReadonlyMap<Hex, string>> {
  const contents: string[] = [];
  await checkFolder(folder);
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  // Skips symbolic links, which could lead out of the folder.
  const sourceFiles = entries.filter((entry) => entry.isFile());
  if (sourceFiles.length > FILES_MAX)
    throw new BrokenRecord(`the contract has ${sourceFiles.length} source files; allowed: ${FILES_MAX}`);
  for (const entry of sourceFiles) {
    const file = await readPlainFile(join(entry.parentPath, entry.name), FILE_BYTES_MAX);
    if (file === null) continue;
    contents.push(decode(file.content, entry.name));
  }
  return mapByHash(contents);
}

/** Throws if the path is a symbolic link, which could lead out of the repository. A missing folder is fine. */
async function checkFolder(path: string): Promise<void> {
  const fileStats = await lstat(path).catch(() => null);
  if (fileStats !== null && !fileStats.isDirectory())
    throw new BrokenRecord(`${basename(path).slice(0, 80)} is not a plain folder`);
}

/**
 * Reads a file, but follows no symbolic link and waits for no pipe. Null if the file does not exist. Checks the opened
 * file, so nobody can replace it between the check and the read.
 */
async function readPlainFile(
  path: string,
  bytesMax: number,
): Promise<{ readonly content: Buffer; readonly changedMs: number } | null> {
  const name = basename(path).slice(0, 80);
  const fileStats = await lstat(path).catch(() => null);
  if (fileStats === null) return null;
  if (!fileStats.isFile()) throw new BrokenRecord(`${name} is not a plain file`);
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  const file = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK).catch(() => null);
  if (file === null) throw new BrokenRecord(`the file ${name} cannot be read`);
  try {
    const openedStats = await file.stat();
    if (!openedStats.isFile()) throw new BrokenRecord(`${name} is not a plain file`);
    if (openedStats.size > bytesMax)
      throw new BrokenRecord(`the file ${name} has ${openedStats.size} bytes; allowed: ${bytesMax}`);
    return { content: await file.readFile(), changedMs: openedStats.mtimeMs };
  } finally {
    await file.close();
  }
}

function decode(bytes: Buffer, name: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new BrokenRecord(`the file ${name.slice(0, 80)} is not UTF-8`);
  }
}

async function readSmall(path: string): Promise<string | null> {
  return (await readPlainFile(path, FILE_BYTES_MAX))?.content.toString('utf8') ?? null;
}
