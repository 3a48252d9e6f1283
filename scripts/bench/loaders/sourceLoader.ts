/** Fills a database with many distinct source files: variations of the files in npm packages. */
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

import type { Database } from '../../../src/clickhouse/client/database';
import { createQueryRunner } from '../../../src/clickhouse/client/namedQueries';
import { findPackageRoot } from '../../../src/clickhouse/client/packageRoot';
import { parseAbi } from '../../../src/domain/abi';
import type { Hex } from '../../../src/domain/hex';
import { createVerifiedStore } from '../../../src/contracts/storeVerified';
import { NO_DEPLOYMENT, type SourceFile, type VerifiedRecord } from '../../../src/contracts/verifiedRecord';

const FILES_PER_CONTRACT = 8;
const BATCH_CONTRACTS = 250;
/** Multiplication by this prime modulo 2^32 spreads consecutive numbers evenly (Knuth's multiplicative hash). */
const SPREAD = 2_654_435_761;
const PACKAGES = ['openzeppelin-contracts-5', '@openzeppelin/contracts', '@uniswap'];

function listFiles(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return listFiles(path);
    return entry.name.endsWith('.sol') ? [path] : [];
  });
}

/** The files from which the variations are made. */
function listBaseFiles(): SourceFile[] {
  const modules = join(findPackageRoot(), 'node_modules');
  return PACKAGES.flatMap((name) => listFiles(join(modules, name))).map((path) => ({
    path: path.slice(modules.length + 1),
    content: readFileSync(path, 'utf8'),
  }));
}

/** A rare word that occurs in only one file. */
export const rareWord = (file: number): string => `rare_word_${(file * SPREAD) % 2 ** 32}`;

function makeFile(baseFiles: readonly SourceFile[], index: number): SourceFile {
  const { path, content } = baseFiles[index % baseFiles.length] ?? { path: '', content: '' };
  const lines = content.split('\n');
  lines.splice(index % lines.length, 0, `// Edition ${index} of this file: ${rareWord(index)}`);
  return { path, content: lines.join('\n') };
}

/** Stores `files` distinct files, eight per contract. Returns the bytes of their content. */
export async function loadSources(
  database: Database,
  chainId: number,
  files: number,
  progress: (done: number) => void,
): Promise<number> {
  const store = createVerifiedStore(database, createQueryRunner(database));
  const baseFiles = listBaseFiles();
  const abi = parseAbi('[{"type":"event","name":"Transfer","inputs":[]}]') ?? [];
  let bytes = 0;
  let batch: VerifiedRecord[] = [];
  for (let index = 0; index * FILES_PER_CONTRACT < files; index += 1) {
    const sources = Array.from({ length: FILES_PER_CONTRACT }, (_, file) =>
      makeFile(baseFiles, index * FILES_PER_CONTRACT + file),
    );
    for (const { content } of sources) bytes += Buffer.byteLength(content);
    batch.push(makeRecord(chainId, index, sources, abi));
    if (batch.length < BATCH_CONTRACTS) continue;
    await store.store(batch);
    batch = [];
    progress((index + 1) * FILES_PER_CONTRACT);
  }
  await store.store(batch);
  return bytes;
}

function makeRecord(
  chainId: number,
  index: number,
  sources: readonly SourceFile[],
  abi: VerifiedRecord['contract']['abi'],
): VerifiedRecord {
  const address: Hex = `0x${((index * SPREAD) % 2 ** 32).toString(16).padStart(8, '0')}${String(index).padStart(32, '0')}`;
  return {
    codeHash: null,
    deployment: NO_DEPLOYMENT,
    sources,
    contract: {
      chainId,
      address,
      status: index % 3 === 0 ? 'match' : 'exact_match',
      source: 'sourcify',
      verifiedAt: 1_700_000_000,
      name: `Contract_${index}`,
      path: sources[0]?.path ?? '',
      language: 'Solidity',
      compiler: 'solc',
      compilerVersion: '0.8.30+commit.73712a01',
      optimization: true,
      runs: 200,
      evmVersion: null,
      license: 'MIT',
      abi,
      constructorArguments: null,
      libraries: {},
      creationMatch: null,
      settings: '{}',
    },
  };
}
