/** Calls the functions of a contract that only read. The answers are exact: integers are never rounded. */
import { failureText } from '../core/api.ts';
import { button, h } from '../core/dom.ts';
import type { ContractRecord } from '../core/explorerAnswers.ts';
import { emptyNotice, loadingPanel, skeleton } from '../core/panel.ts';
import { AbiFault, decode, encode, rangeOf, type AbiPart, type AbiValue } from './abiCoder.ts';
import { describeRevert, listEntries, type AbiFunction } from './abiFunctions.ts';
import { allowedFor, InputFault, readInput } from './abiInput.ts';
import { readAbi } from './contractReads.ts';
import { toChecksum } from './keccak.ts';
import { addressOf, copyable } from './links.ts';
import { callContract, NodeFailure } from './nodeAnswers.ts';
import { shownPart, valueList } from './shownValue.ts';

/** Most functions of the tab. */
const FUNCTIONS_MAX = 300;
const INPUT_TOOLS = { rangeOf, toChecksum };

interface CallTarget {
  readonly address: string;
  readonly chain: string | null;
  readonly errors: readonly AbiFunction[];
  /** The block of the calls; empty for the newest one. Throws InputFault. */
  readonly getBlock: () => string;
  readonly signal: AbortSignal;
}

export function readTab(record: ContractRecord, chain: string | null, signal: AbortSignal): HTMLElement {
  return loadingPanel({
    load: (loadSignal) => readAbi(record, chain, loadSignal),
    render: ({ ownAbi, implementationAbi, implementation }) => {
      const blockField = h('input', {
        class: 'mono',
        placeholder: 'newest',
        'aria-label': 'Block',
        inputmode: 'numeric',
      });
      const target: CallTarget = {
        address: record.address,
        chain,
        errors: listEntries([...ownAbi, ...implementationAbi], 'error'),
        getBlock: () => readBlock(blockField.value),
        signal,
      };
      const ownFunctions = readFunctions(ownAbi);
      const implementationFunctions = readFunctions(implementationAbi);
      if (ownFunctions.length + implementationFunctions.length === 0)
        return emptyNotice(
          ownAbi.length + implementationAbi.length === 0
            ? 'The ABI is unknown, because the contract is not verified'
            : 'This contract has no functions that only read',
        );
      return h(
        'div',
        { class: 'read-tab' },
        h('label', { class: 'read-block' }, h('span', {}, 'As of block'), blockField),
        ...ownFunctions.map((abiFunction) => functionForm(abiFunction, target)),
        implementationFunctions.length > 0 &&
          h(
            'h3',
            {},
            'Functions of the implementation ',
            implementation === null ? null : addressOf(implementation, chain),
          ),
        ...implementationFunctions.map((abiFunction) => functionForm(abiFunction, target)),
      );
    },
    skeleton: () => skeleton(300, 6),
    signal,
  }).element;
}

function readFunctions(abi: readonly unknown[]): AbiFunction[] {
  return listEntries(abi, 'function')
    .filter(({ isRead }) => isRead)
    .slice(0, FUNCTIONS_MAX);
}

function readBlock(text: string): string {
  const trimmed = text.trim();
  if (trimmed === '') return '';
  if (/^\d{1,10}$/.test(trimmed)) return `0x${Number(trimmed).toString(16)}`;
  throw new InputFault(
    `block: got "${trimmed.slice(0, 80)}"; allowed: a block number, or nothing for the newest block`,
  );
}

const inputName = ({ label }: AbiPart, index: number): string =>
  label === '' ? `input ${index + 1}` : label;

type Field = HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement;

function fieldFor({ type }: AbiPart): Field {
  const props = { placeholder: allowedFor(type), class: 'mono', autocomplete: 'off', spellcheck: 'false' };
  if (type.kind === 'bool')
    return h('select', {}, h('option', { value: 'false' }, 'false'), h('option', { value: 'true' }, 'true'));
  const isLong = type.kind === 'array' || type.kind === 'tuple' || type.kind === 'string';
  return isLong ? h('textarea', { ...props, rows: 2 }) : h('input', props);
}

function functionForm(abiFunction: AbiFunction, target: CallTarget): HTMLElement {
  const fields = abiFunction.inputs.map(fieldFor);
  const answerBox = h('div', { class: 'read-answer', 'aria-live': 'polite' });
  const form = h(
    'form',
    { class: 'read-function', 'data-signature': abiFunction.signature },
    h(
      'header',
      {},
      h('strong', { class: 'mono', title: abiFunction.selector }, h('bdi', {}, abiFunction.name)),
      h(
        'span',
        { class: 'muted mono' },
        abiFunction.outputs.length === 0
          ? ''
          : ` → ${abiFunction.outputs.map(({ type }) => type.name).join(', ')}`,
      ),
      h('span', { class: 'spring' }),
      button('Read', () => undefined, { type: 'submit', 'aria-label': `Read ${abiFunction.name}` }),
    ),
    ...abiFunction.inputs.map((part, index) =>
      h(
        'label',
        {},
        h(
          'span',
          {},
          h('bdi', {}, inputName(part, index)),
          h('span', { class: 'type' }, ` ${part.type.name}`),
        ),
        fields[index] ?? null,
      ),
    ),
    answerBox,
  );
  let runningCall: AbortController | null = null;
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    runningCall?.abort();
    runningCall = new AbortController();
    const callSignal = AbortSignal.any([runningCall.signal, target.signal]);
    void callFunction(abiFunction, fields, answerBox, { ...target, signal: callSignal });
  });
  return form;
}

async function callFunction(
  abiFunction: AbiFunction,
  fields: readonly Field[],
  answerBox: HTMLElement,
  target: CallTarget,
): Promise<void> {
  try {
    const values = readFields(abiFunction, fields);
    const types = abiFunction.inputs.map(({ type }) => type);
    const call = {
      to: target.address,
      data: abiFunction.selector + encode(types, values),
      block: target.getBlock(),
    };
    answerBox.setAttribute('aria-busy', 'true');
    const data = await callContract(call, target.chain, target.signal);
    answerBox.replaceChildren(answerOf(abiFunction, data, target.chain));
  } catch (error) {
    if (target.signal.aborted) return;
    answerBox.replaceChildren(h('p', { class: 'fault', role: 'alert' }, faultText(error, target.errors)));
  }
  answerBox.setAttribute('aria-busy', 'false');
}

/** The values of the fields. Marks the first wrong field. */
function readFields(abiFunction: AbiFunction, fields: readonly Field[]): AbiValue[] {
  for (const field of fields) field.removeAttribute('aria-invalid');
  return abiFunction.inputs.map((part, index) => {
    const field = fields[index];
    try {
      return readInput(part.type, field?.value ?? '', inputName(part, index), INPUT_TOOLS);
    } catch (error) {
      field?.setAttribute('aria-invalid', 'true');
      field?.focus();
      throw error;
    }
  });
}

function answerOf(abiFunction: AbiFunction, data: string, chain: string | null): HTMLElement {
  if (data === '0x')
    return h(
      'p',
      { class: 'muted' },
      abiFunction.outputs.length === 0 ? 'No data' : 'The contract answered without data',
    );
  try {
    const values = decode(
      abiFunction.outputs.map(({ type }) => type),
      data,
    );
    return valueList(
      abiFunction.outputs.map((part, index) => shownPart(part, values[index] ?? '')),
      chain,
    );
  } catch (error) {
    if (!(error instanceof AbiFault)) throw error;
    return h(
      'div',
      {},
      h('p', { class: 'fault' }, `The answer does not fit the ABI: ${error.message}`),
      copyable(data),
    );
  }
}

function faultText(error: unknown, errors: readonly AbiFunction[]): string {
  if (!(error instanceof NodeFailure)) return failureText(error);
  const reason = describeRevert(error.data, errors);
  return reason === null ? error.message : `The contract reverted: ${reason}`;
}
