/** The sources of a contract: a tree of files, and a file with colours, where each line has its own link. */
import type { App } from '../core/app.ts';
import { h } from '../core/dom.ts';
import type { ContractRecord } from '../core/explorerAnswers.ts';
import { emptyNotice } from '../core/panel.ts';
import { copyButton } from '../core/pieces.ts';
import { sourcePath } from '../core/sourcePath.ts';
import type { Piece } from './highlight.ts';

type SourceFile = NonNullable<ContractRecord['sources']>[number];

interface SourceOptions {
  readonly record: ContractRecord;
  readonly chain: string | null;
  readonly query: URLSearchParams;
  readonly app: App;
  readonly signal: AbortSignal;
}

/** Lines of one block of the list. The browser draws only the blocks on the screen. */
const BLOCK_LINES = 200;

export function sourceView(options: SourceOptions): HTMLElement {
  const { record, query } = options;
  const sources = record.sources ?? [];
  if (sources.length === 0) return emptyNotice('The source of this contract is not verified');
  const firstFile = sources.find(({ path }) => path === query.get('file')) ?? mainFile(sources, record.name);
  const line = /^\d{1,7}$/.test(query.get('line') ?? '') ? Number(query.get('line')) : null;
  const code = h('div', { class: 'code', tabindex: 0, 'aria-label': 'Source code' });
  const tree = h('nav', { class: 'file-tree', 'aria-label': 'Files' });
  const openFile = (file: SourceFile, line: number | null): void => {
    for (const link of tree.querySelectorAll('a'))
      if (link.dataset['path'] === file.path) link.setAttribute('aria-current', 'true');
      else link.removeAttribute('aria-current');
    void showFile(code, file, line, options);
  };
  const choose = (file: SourceFile): void => {
    options.app.remember({ tab: 'source', file: file.path, chainId: options.chain });
    openFile(file, null);
  };
  tree.append(folderList(treeOf(sources), options, choose));
  if (firstFile !== undefined) openFile(firstFile, line);
  return h('div', { class: 'sources' }, tree, code);
}

/** The file that is named like the contract, or else the first one. */
function mainFile(sources: readonly SourceFile[], name: string | null): SourceFile | undefined {
  const namedFile = sources.find(
    ({ path }) =>
      path
        .split('/')
        .at(-1)
        ?.replace(/\.\w+$/, '') === name,
  );
  return namedFile ?? sources[0];
}

interface Folder {
  readonly folders: Map<string, Folder>;
  readonly files: { readonly name: string; readonly file: SourceFile }[];
}

/** Deepest folders of the tree. The rest of a longer path is one name. */
const DEPTH_MAX = 20;

function treeOf(sources: readonly SourceFile[]): Folder {
  const root: Folder = { folders: new Map(), files: [] };
  for (const file of sources) {
    const parts = file.path.split('/');
    const names = parts.slice(0, Math.min(parts.length - 1, DEPTH_MAX));
    let folder = root;
    for (const name of names) {
      const child = folder.folders.get(name) ?? { folders: new Map(), files: [] };
      folder.folders.set(name, child);
      folder = child;
    }
    folder.files.push({ name: parts.slice(names.length).join('/'), file });
  }
  return root;
}

function folderList(folder: Folder, options: SourceOptions, choose: (file: SourceFile) => void): HTMLElement {
  const folders = [...folder.folders].map(([name, subfolder]) => {
    // A chain of folders with nothing else in them is one row.
    let [label, lastFolder] = [name, subfolder];
    for (let innerEntry = onlyFolder(lastFolder); innerEntry !== null; innerEntry = onlyFolder(lastFolder)) {
      const [innerName, innerFolder] = innerEntry;
      label += `/${innerName}`;
      lastFolder = innerFolder;
    }
    return h(
      'li',
      {},
      h(
        'details',
        { open: true },
        h('summary', {}, h('bdi', {}, label)),
        folderList(lastFolder, options, choose),
      ),
    );
  });
  const files = folder.files.map(({ name, file }) => {
    const link = h(
      'a',
      { href: lineUrl(options, file.path, null), 'data-path': file.path, title: file.path },
      h('bdi', {}, name),
    );
    link.addEventListener('click', (event) => {
      if (isForNewTab(event)) return;
      event.preventDefault();
      choose(file);
    });
    return h('li', {}, link);
  });
  return h('ul', {}, ...folders, ...files);
}

function onlyFolder({ folders, files }: Folder): [string, Folder] | null {
  return files.length === 0 && folders.size === 1 ? ([...folders][0] ?? null) : null;
}

function isForNewTab(event: MouseEvent): boolean {
  return event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0;
}

function lineUrl({ record, chain }: SourceOptions, path: string, line: number | null): string {
  return sourcePath(record.address, { chain, path, line });
}

/** Shows the file at once without colours; the colours need another module. */
async function showFile(
  code: HTMLElement,
  file: SourceFile,
  line: number | null,
  options: SourceOptions,
): Promise<void> {
  const plainLines = file.content.split('\n').map((text): Piece[] => [{ kind: null, text }]);
  const isStillShown = (): boolean => code.dataset['path'] === file.path && !options.signal.aborted;
  code.dataset['path'] = file.path;
  // `data-colours` is for tests: they wait until it is 'done'.
  code.dataset['colours'] = 'none';
  showLines(code, file, plainLines, line, options);
  const { colouredLines } = await import('./highlight.ts');
  if (!isStillShown()) return;
  const scrollTop = code.scrollTop;
  const markedLine = code.querySelector<HTMLElement>('li.marked')?.dataset['line'] ?? null;
  showLines(
    code,
    file,
    colouredLines(file.content, file.path),
    markedLine === null ? null : Number(markedLine),
    options,
  );
  code.scrollTop = scrollTop;
  code.dataset['colours'] = 'done';
  // The view joins the page only after this function has started, so the line is scrolled to at last.
  if (line !== null) markLine(code, line)?.scrollIntoView({ block: 'center' });
}

function showLines(
  code: HTMLElement,
  file: SourceFile,
  lines: readonly (readonly Piece[])[],
  markedLine: number | null,
  options: SourceOptions,
): void {
  const blocks: HTMLElement[] = [];
  for (let start = 0; start < lines.length; start += BLOCK_LINES) {
    const rows = lines
      .slice(start, start + BLOCK_LINES)
      .map((pieces, index) => lineRow(pieces, start + index + 1, file.path, code, options));
    const block = h('ol', { start: start + 1 }, ...rows);
    block.style.containIntrinsicSize = `auto ${rows.length * LINE_PX}px`;
    blocks.push(block);
  }
  code.replaceChildren(
    h('p', { class: 'file-name' }, h('bdi', {}, file.path), ' ', copyButton(file.content)),
    ...blocks,
  );
  if (markedLine !== null) markLine(code, markedLine);
}

/** Height of a line, as in the style sheet, for blocks that are not drawn yet. */
const LINE_PX = 19;

function lineRow(
  pieces: readonly Piece[],
  line: number,
  path: string,
  code: HTMLElement,
  options: SourceOptions,
): HTMLElement {
  const lineLink = h(
    'a',
    { class: 'line-number', href: lineUrl(options, path, line), 'aria-label': `Line ${line}` },
    String(line),
  );
  lineLink.addEventListener('click', (event) => {
    if (isForNewTab(event)) return;
    event.preventDefault();
    options.app.remember({ tab: 'source', file: path, line, chainId: options.chain });
    markLine(code, line);
  });
  const text = pieces.map(({ kind, text: pieceText }) =>
    kind === null ? pieceText : h('span', { class: `tok-${kind.replace(/[^\w-]/g, '')}` }, pieceText),
  );
  return h('li', { 'data-line': line }, lineLink, h('span', { class: 'line-text' }, ...text));
}

/** Marks a line, and no other. Returns its row; null if the file has no such line. */
function markLine(code: HTMLElement, line: number): Element | null {
  for (const row of code.querySelectorAll('li.marked')) row.classList.remove('marked');
  const row = code.querySelector(`li[data-line="${line}"]`);
  row?.classList.add('marked');
  return row;
}
