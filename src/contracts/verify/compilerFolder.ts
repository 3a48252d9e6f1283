/**
 * Compilers besides the installed npm packages: soljson files with a list.json in the layout of
 * binaries.soliditylang.org, in a folder or on a mirror that the operator names. Only files with the SHA-256 of the
 * list are used.
 */
import { createHash, randomBytes } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { z } from 'zod';

import { systemClock, withDeadline } from '../../node/rpc/clock';
import { AppError, errorText } from '../../errors';
import { guardedGet } from '../guardedGet';

const LIST_BYTES_MAX = 8 * 2 ** 20;
const COMPILER_BYTES_MAX = 64 * 2 ** 20;
const LIST_TIMEOUT_MS = 30_000;
const COMPILER_TIMEOUT_MS = 120_000;
/** Time in ms for which the list is used without reading it again. */
const LIST_KEPT_MS = 600_000;
/** Number of downloaded compilers that stay on disk. */
const DOWNLOADS_KEPT = 30;

const listShape = z.object({
  builds: z
    .array(
      z.looseObject({
        path: z.string().regex(/^[\w.+-]{1,120}\.js$/),
        version: z.string().max(40),
        longVersion: z.string().max(80),
        sha256: z.string().regex(/^0x[0-9a-fA-F]{64}$/),
        prerelease: z.string().optional(),
      }),
    )
    .max(10_000),
});
type Build = z.infer<typeof listShape>['builds'][number];

export interface CompilerSource {
  /** Versions of the list, such as `0.8.30`. Empty if the list cannot be read. */
  listVersions(): Promise<readonly string[]>;
  /**
   * Path of the checked soljson file; null if the list has no such version. `commit` are the 8 hex digits after
   * `+commit.`, or null for any.
   * @throws AppError `unavailable` if the file or the list cannot be read or has a wrong hash
   */
  find(version: string, commit: string | null, signal?: AbortSignal): Promise<string | null>;
}

/** Opens a folder with `list.json` and soljson files. */
export function openCompilerFolder(folder: string): CompilerSource {
  return createSource(
    folder,
    async () => (await readBounded(join(folder, 'list.json'), LIST_BYTES_MAX)).toString('utf8'),
    async (build) => {
      const path = join(folder, build.path);
      checkHash(build, await readBounded(path, COMPILER_BYTES_MAX));
      return path;
    },
  );
}

/** Opens a mirror, the URL of a folder with `list.json`. Compilers are downloaded into `folder` when they are needed. */
export function openCompilerMirror(mirror: string, folder: string): CompilerSource {
  const base = mirror.endsWith('/') ? mirror : `${mirror}/`;
  return createSource(
    new URL(base).origin + new URL(base).pathname,
    async (signal) =>
      (await download(base, 'list.json', LIST_BYTES_MAX, LIST_TIMEOUT_MS, signal)).toString('utf8'),
    async (build, signal) => {
      const path = join(folder, `${build.sha256.slice(2).toLowerCase()}.js`);
      const keptFile = await readBounded(path, COMPILER_BYTES_MAX).catch(() => null);
      if (keptFile !== null && hashOf(keptFile) === build.sha256.toLowerCase()) {
        await utimes(path, new Date(), new Date());
        return path;
      }
      const content = await download(base, build.path, COMPILER_BYTES_MAX, COMPILER_TIMEOUT_MS, signal);
      checkHash(build, content);
      await mkdir(folder, { recursive: true });
      // The rename makes the file appear only when it is complete.
      const partFile = `${path}.${randomBytes(6).toString('hex')}.part`;
      await writeFile(partFile, content);
      await rename(partFile, path);
      await dropOldest(folder);
      return path;
    },
  );
}

function createSource(
  place: string,
  readList: (signal?: AbortSignal) => Promise<string>,
  provide: (build: Build, signal?: AbortSignal) => Promise<string>,
): CompilerSource {
  let lastList: { readonly builds: readonly Build[]; readonly readAt: number } | null = null;
  const list = async (signal?: AbortSignal): Promise<readonly Build[]> => {
    if (lastList !== null && performance.now() - lastList.readAt < LIST_KEPT_MS) return lastList.builds;
    try {
      const { builds } = listShape.parse(JSON.parse(await readList(signal)));
      const releases = builds.filter(({ prerelease }) => prerelease === undefined || prerelease === '');
      lastList = { builds: releases, readAt: performance.now() };
    } catch (error) {
      if (lastList === null) throw unreadableError(place, 'list.json', error);
    }
    return lastList.builds;
  };
  return {
    async listVersions() {
      const builds = await list().catch(() => []);
      return builds.map(({ version }) => version);
    },
    async find(version, commit, signal) {
      const builds = await list(signal);
      const build = builds.find(
        (build) =>
          build.version === version && (commit === null || build.longVersion.endsWith(`+commit.${commit}`)),
      );
      if (build === undefined) return null;
      try {
        return await provide(build, signal);
      } catch (error) {
        throw unreadableError(place, build.path, error);
      }
    },
  };
}

function unreadableError(place: string, name: string, error: unknown): AppError {
  const text = `the compiler file ${name} of ${place} cannot be used: ${errorText(error).slice(0, 300)}`;
  return new AppError('unavailable', text, { cause: error });
}

async function readBounded(path: string, bytesMax: number): Promise<Buffer> {
  const fileStats = await stat(path);
  if (!fileStats.isFile() || fileStats.size > bytesMax)
    throw new Error(`it is not a file of at most ${bytesMax} bytes`);
  return readFile(path);
}

function hashOf(content: Buffer): string {
  return `0x${createHash('sha256').update(content).digest('hex')}`;
}

function checkHash({ sha256 }: Build, content: Buffer): void {
  if (hashOf(content) !== sha256.toLowerCase()) throw new Error('its SHA-256 differs from list.json');
}

function download(
  base: string,
  name: string,
  bytesMax: number,
  timeoutMs: number,
  signal: AbortSignal = new AbortController().signal,
): Promise<Buffer> {
  const timeoutError = (): Error => new Error(`no answer within ${timeoutMs / 1_000} s`);
  return withDeadline(systemClock(), timeoutMs, signal, timeoutError, async (deadlineSignal) => {
    const url = new URL(name, base);
    // The operator names the mirror in a setting, so it may be in a private network.
    const { status, body } = await guardedGet(url, { bytesMax, allowPrivate: true, signal: deadlineSignal });
    if (status !== 200) throw new Error(`the mirror answers with status ${status}`);
    return body;
  });
}

async function dropOldest(folder: string): Promise<void> {
  const names = await readdir(folder);
  const files = await Promise.all(
    names.map(async (name) => ({ name, changedMs: (await stat(join(folder, name))).mtimeMs })),
  );
  const outdatedFiles = files.sort((a, b) => b.changedMs - a.changedMs).slice(DOWNLOADS_KEPT);
  for (const { name } of outdatedFiles) await rm(join(folder, name), { force: true });
}
