/**
 * Finds installed Solidity compilers, several versions side by side: npm packages named `solc-<version>`, aliases of
 * `npm:solc@<version>`, and `solc` itself. Searches the folders that Node would search. Downloads nothing.
 */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { LRUCache } from 'lru-cache';
import { z } from 'zod';

import { AppError } from '../../errors';
import { findPackageRoot } from '../../clickhouse/client/packageRoot';
import { COMPILER_LIMITS, runCompiler, type CompilerLimits } from './compilerProcess';

const packageShape = z.object({ name: z.literal('solc'), version: z.string() });

export interface Compilers {
  /** Installed versions, such as `0.8.30`; the newest comes first. */
  readonly versions: readonly string[];
  /** Compiles a standard JSON input and parses the output. Throws bad_request for a version that is not installed. */
  compile(version: string, input: unknown, signal?: AbortSignal): Promise<CompilerAnswer>;
}

export interface CompilerAnswer {
  /** Full version, such as `0.8.30+commit.73712a01`. */
  readonly version: string;
  readonly output: unknown;
  /** Length of the output as JSON, in characters. */
  readonly size: number;
}

/** Finds the compilers in `node_modules` of the program and of its parent folders. */
export function findCompilers(
  bounds: Partial<CompilerLimits> = {},
  root: string = findPackageRoot(),
): Compilers {
  const limits = { ...COMPILER_LIMITS, ...bounds };
  const folders = listCompilers(root);
  const versions = [...folders.keys()].sort(compareVersions).reverse();
  return {
    versions,
    async compile(asked, input, signal) {
      const wanted = /^v?(\d+\.\d+\.\d+)(?:\+commit\.([0-9a-f]{8}))?(?:\.\w+)*$/.exec(asked);
      const folder = folders.get(wanted?.[1] ?? '');
      if (wanted === null || folder === undefined) throw missing(asked, versions);
      const { version, output } = await runCompiler(folder, JSON.stringify(input), limits, signal);
      const short = /^\d+\.\d+\.\d+\+commit\.[0-9a-f]{8}/.exec(version)?.[0] ?? version;
      if (wanted[2] !== undefined && !short.endsWith(wanted[2])) throw missing(asked, [short]);
      return { version: short, output: JSON.parse(output), size: output.length };
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
  const failures = new LRUCache<string, string>({ max: FAILURES_KEPT });
  return {
    versions: compilers.versions,
    async compile(version, input, signal) {
      const key = createHash('sha256')
        .update(JSON.stringify([version, input]))
        .digest('hex');
      const known = answers.get(key);
      if (known !== undefined) return known;
      const failure = failures.get(key);
      if (failure !== undefined) throw new AppError('bad_request', failure);
      try {
        const answer = await compilers.compile(version, input, signal);
        answers.set(key, answer);
        return answer;
      } catch (error) {
        // Other errors have their cause on this machine, not in the sources.
        if (error instanceof AppError && error.code === 'bad_request') failures.set(key, error.message);
        throw error;
      }
    },
  };
}

function missing(asked: string, versions: readonly string[]): AppError {
  const there = versions.length === 0 ? 'none' : versions.join(', ');
  const shown = asked.slice(0, 60);
  return new AppError(
    'bad_request',
    `the compiler solc ${shown} is not installed; installed: ${there} (to add one: npm install solc-<version>@npm:solc@<version>)`,
  );
}

/** Folders of the compilers, by version. */
function listCompilers(root: string): Map<string, string> {
  const found = new Map<string, string>();
  for (let folder = root; ; folder = dirname(folder)) {
    const modules = join(folder, 'node_modules');
    const names = existsSync(modules) ? readdirSync(modules) : [];
    for (const name of names.filter((each) => /^solc(?:-.+)?$/.test(each))) {
      const version = readVersion(join(modules, name));
      if (version !== null && !found.has(version)) found.set(version, join(modules, name));
    }
    if (dirname(folder) === folder) return found;
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
  const [left, right] = [a, b].map((version) => version.split('.').map(Number));
  for (let i = 0; i < 3; i += 1) {
    const difference = (left?.[i] ?? 0) - (right?.[i] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}
