/** Shows the shape of an answer as an expandable tree. */
import { h } from '../core/dom.ts';
import { boundsOf, resolveSchema, typeOf, type OpenApi, type Schema } from './openapiDocument.ts';

/** Limit of the levels of a tree, because recursive shapes never end. */
const DEPTH_MAX = 6;
/** Number of levels that are open at first. */
const OPEN_LEVELS = 1;

export function schemaTree(document: OpenApi, schema: Schema): HTMLElement {
  return h('div', { class: 'schema' }, ...fieldRows(document, schema, 0));
}

/** The shapes of objects inside lists, unions and references. */
function objectsOf(document: OpenApi, schema: Schema): Schema[] {
  const resolved = resolveSchema(document, schema);
  if (resolved.properties !== undefined) return [resolved];
  if (resolved.items !== undefined) return objectsOf(document, resolved.items);
  return (resolved.anyOf ?? resolved.oneOf ?? []).flatMap((part) => objectsOf(document, part));
}

function fieldRows(document: OpenApi, schema: Schema, depth: number): HTMLElement[] {
  const objects = objectsOf(document, schema);
  return objects.flatMap((object, index) => {
    const rows = Object.entries(object.properties ?? {}).map(([name, field]) =>
      fieldRow(document, object, name, field, depth),
    );
    return index === 0 ? rows : [h('p', { class: 'schema-or' }, 'or'), ...rows];
  });
}

function fieldRow(
  document: OpenApi,
  object: Schema,
  name: string,
  field: Schema,
  depth: number,
): HTMLElement {
  const resolved = resolveSchema(document, field);
  const isOptional = !(object.required ?? []).includes(name);
  const fieldText = [field.description ?? resolved.description ?? '', boundsOf(field)]
    .filter((text) => text !== '')
    .join(' · ');
  const lineParts = [
    h('code', { class: 'field-name' }, name),
    h('span', { class: 'field-type' }, `${typeOf(field)}${isOptional ? ', optional' : ''}`),
    h('span', { class: 'field-words' }, fieldText),
  ];
  const innerFields = depth >= DEPTH_MAX ? [] : fieldRows(document, field, depth + 1);
  if (innerFields.length === 0) return h('div', { class: 'field' }, ...lineParts);
  return h(
    'details',
    { open: depth < OPEN_LEVELS },
    h('summary', { class: 'field' }, ...lineParts),
    h('div', { class: 'inner' }, ...innerFields),
  );
}

/** A value of the shape, with its required fields only. */
export function sampleOf(document: OpenApi, schema: Schema): unknown {
  const { type, properties = {}, required = [] } = resolveSchema(document, schema);
  if (type === 'string') return '';
  if (type !== 'object') return null;
  const fields = Object.entries(properties).filter(([name]) => required.includes(name));
  return Object.fromEntries(fields.map(([name, field]) => [name, sampleOf(document, field)]));
}
