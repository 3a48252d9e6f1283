/**
 * Finds Solidity compilers, several versions side by side: npm packages named `solc-<version>`, aliases of
 * `npm:solc@<version>`, and `solc` itself, in the folders that Node would search. Other versions come from the folder
 * or mirror that the operator names.
 */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { LRUCache } from 'lru-cache';
import { z } from 'zod';

import { AppError } from '../../errors';
import { findPackageRoot } from '../../clickhouse/client/packageRoot';
import type { CompilerSource } from './compilerFolder';
import { COMPILER_LIMITS, runCompiler, type CompilerLimits } from './compilerProcess';
import { SourceFault } from './standardJson';

const packageShape = z.object({ name: z.literal('solc'), version: z.string() });

export interface Compilers {
  /** The versions, such as `0.8.30`; the newest comes first. */
  listVersions(): Promise<readonly string[]>;
  /** Compiles a standard JSON input and parses the output. Throws bad_request for a missing version. */
  compile(version: string, input: unknown, signal?: AbortSignal): Promise<CompilerAnswer>;
}

export interface CompilerAnswer {
  /** Full version, such as `0.8.30+commit.73712a01`. */
  readonly version: string;
  readonly output: unknown;
  /** Length of the output as JSON, in characters. */
  readonly size: number;
}

/** Finds the compilers in `node_modules` of the program and of its parent folders. `others` has further versions. */
export function findCompilers(
  bounds: Partial<CompilerLimits> = {},
  root: string = findPackageRoot(),
  others: readonly CompilerSource[] = [],
): Compilers {
  const limits = { ...COMPILER_LIMITS, ...bounds };
  const folders = listCompilers(root);
  const listVersions = async (): Promise<readonly string[]> => {
    const otherVersions = await Promise.all(others.map((source) => source.listVersions()));
    return [...new Set([...folders.keys(), ...otherVersions.flat()])].sort(compareVersions).reverse();
  };
  const findOther = async (version: string, commit: string | null, signal?: AbortSignal) => {
    for (const source of others) {
      const path = await source.find(version, commit, signal);
      if (path !== null) return path;
    }
    return null;
  };
  return {
    listVersions,
    async compile(askedVersion, input, signal) {
      const [, number = '', commit = null] =
        /^v?(\d+\.\d+\.\d+)(?:\+commit\.([0-9a-f]{8}))?(?:\.\w+)*$/.exec(askedVersion) ?? [];
      const compilerPath =
        folders.get(number) ?? (number === '' ? null : await findOther(number, commit, signal));
      if (compilerPath === null) throw notInstalled(askedVersion, await listVersions());
      const { version, output } = await runCompiler(compilerPath, JSON.stringify(input), limits, signal);
      const shortVersion = /^\d+\.\d+\.\d+\+commit\.[0-9a-f]{8}/.exec(version)?.[0] ?? version;
      if (commit !== null && !shortVersion.endsWith(commit)) throw notInstalled(askedVersion, [shortVersion]);
      return { version: shortVersion, output: JSON.parse(output), size: output.length };
    },
  };
}

/** Size of all cached outputs together, in characters. */
const ANSWERS_SIZE_MAX = 32 * 2 ** 20;
const FAILURES_KEPT = 1_000;

/**
 * Caches recent outputs and failures. People often retry with a small change, or verify several contracts of one
 * project.
 */
export function rememberCompilations(compilers: Compilers): Compilers {
  const answers = new LRUCache<string, CompilerAnswer>({
    maxSize: ANSWERS_SIZE_MAX,
    sizeCalculation: ({ size }) => size + 1,
  });
  const failures = new LRUCache<string, AppError>({ max: FAILURES_KEPT });
  return {
    listVersions: () => compilers.listVersions(),
    async compile(version, input, signal) {
      const key = createHash('sha256')
        .update(JSON.stringify([version, input]))
        .digest('hex');
      const cached = answers.get(key);
      if (cached !== undefined) return cached;
      const failure = failures.get(key);
      if (failure !== undefined) throw failure;
      try {
        const answer = await compilers.compile(version, input, signal);
        answers.set(key, answer);
        return answer;
      } catch (error) {
        // Only an error with the code bad_request is caused by the sources and would come again. Other errors
        // have their cause on this machine.
        if (error instanceof AppError && error.code === 'bad_request') failures.set(key, error);
        throw error;
      }
    },
  };
}

function notInstalled(askedVersion: string, versions: readonly string[]): SourceFault {
  const installedText = versions.length === 0 ? 'none' : versions.join(', ');
  const askedText = askedVersion.slice(0, 60);
  return new SourceFault(
    'invalid_compiler_version',
    `the compiler solc ${askedText} is not installed; installed: ${installedText} (to add one: npm install solc-<version>@npm:solc@<version>, or set SOLC_DIR or SOLC_MIRROR)`,
  );
}

/** Folders of the compilers, by version. */
function listCompilers(root: string): Map<string, string> {
  const folderOf = new Map<string, string>();
  for (let folder = root; ; folder = dirname(folder)) {
    const modules = join(folder, 'node_modules');
    const packageNames = existsSync(modules) ? readdirSync(modules) : [];
    for (const name of packageNames.filter((packageName) => /^solc(?:-.+)?$/.test(packageName))) {
      const version = readVersion(join(modules, name));
      if (version !== null && !folderOf.has(version)) folderOf.set(version, join(modules, name));
    }
    if (dirname(folder) === folder) return folderOf;
  }
}

function readVersion(folder: string): string | null {
  try {
    const parsed = packageShape.safeParse(JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')));
    // A package such as 0.8.23-fixed contains the compiler 0.8.23.
    return parsed.success ? (/^\d+\.\d+\.\d+/.exec(parsed.data.version)?.[0] ?? null) : null;
  } catch {
    return null;
  }
}

function compareVersions(a: string, b: string): number {
  const [partsA, partsB] = [a, b].map((version) => version.split('.').map(Number));
  for (let i = 0; i < 3; i += 1) {
    const difference = (partsA?.[i] ?? 0) - (partsB?.[i] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}
