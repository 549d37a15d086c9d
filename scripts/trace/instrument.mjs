import { parse } from "acorn";

/** Array methods whose callback counts as the body of a loop and not as a separate function, so that both look alike in a trace. */
const arrayMethods = new Set(
  "every filter find findIndex findLast findLastIndex flatMap forEach from map reduce reduceRight some sort toSorted".split(
    " ",
  ),
);

/**
 * Adds calls to JavaScript code that report to `globalThis.traceRun`. Each function calls `enter(id)` when it is entered; the ids count up
 * from `firstId` in the order of the text. A function named in `roots` does its work inside `run(job, work)`. No code moves to another
 * line. Returns the code and the names of the functions, in the order of their ids. Throws an Error if a root is not among them.
 */
export function instrument(code, { firstId, roots }) {
  const names = [];
  const edits = [];
  const insert = (at, text) => edits.push({ at, text });
  const visit = (node, parent, owner) => {
    const scope = ownScope(node, parent, owner, code);
    const isEntered = isFunction(node) && !isArrayCallback(node, parent);
    const root = isEntered ? roots.find((one) => one.function === scope.name) : undefined;
    const id = firstId + names.length;
    if (isEntered) names.push(scope.name);
    const [before, after] = isEntered ? callsOf(node, id, root) : ["", ""];
    const { start, end } = isEntered ? inside(node.body) : node;
    if (before !== "") insert(start, before);
    for (const child of childrenOf(node)) visit(child, node, scope);
    // Inserted after those of the children, so that at the same place the inner ones end first.
    if (after !== "") insert(end, after);
  };
  visit(parse(code, { ecmaVersion: "latest", sourceType: "module" }), undefined, { name: "", isClass: false });
  for (const root of roots) {
    const found = names.filter((name) => name === root.function).length;
    if (found !== 1) throw new Error(`${root.file} has ${found} functions ${root.function}; one was expected`);
  }
  return { code: applyEdits(code, edits), names };
}

/** Returns the code that is inserted before and after the body of a function. */
function callsOf(node, id, root) {
  const isBlock = node.body.type === "BlockStatement";
  const enter = `globalThis.traceRun.enter(${id})`;
  if (root === undefined) return isBlock ? [`${enter};`, ""] : [`(${enter}, `, ")"];
  if (node.generator) throw new Error(`${root.function} is a generator, and no root can be one`);
  const open = `globalThis.traceRun.run(${root.job}, ${node.async ? "async " : ""}() => `;
  return isBlock ? [`return ${open}{${enter};`, "});"] : [`${open}(${enter}, `, "))"];
}

/** Returns the range of a block without its braces. */
function inside({ type, start, end }) {
  return type === "BlockStatement" ? { start: start + 1, end: end - 1 } : { start, end };
}

function isFunction({ type }) {
  return type === "FunctionDeclaration" || type === "FunctionExpression" || type === "ArrowFunctionExpression";
}

function isArrayCallback(node, parent) {
  if (parent?.type !== "CallExpression" || !parent.arguments.includes(node)) return false;
  const { type, computed, property } = parent.callee;
  return type === "MemberExpression" && !computed && arrayMethods.has(property.name);
}

/** Returns the names of the functions and classes around the children of a node, the innermost last. */
function ownScope(node, parent, owner, code) {
  const isClass = node.type === "ClassDeclaration" || node.type === "ClassExpression";
  if (!isClass && !isFunction(node)) return owner;
  if (isClass) return { name: within(owner, node.id?.name ?? givenName(parent, node, code) ?? "class"), isClass };
  if (parent?.type === "MethodDefinition" && parent.kind === "constructor")
    return { name: `new ${owner.name}`, isClass };
  const name = within(owner, node.id?.name ?? givenName(parent, node, code) ?? "closure");
  return { name: parent?.kind === "get" || parent?.kind === "set" ? `${parent.kind} ${name}` : name, isClass };
}

function within(owner, name) {
  return owner.name === "" ? name : `${owner.name}${owner.isClass ? "." : "/"}${name}`;
}

/** Returns the name of a function or class that has no name of its own, by the variable or property to which it is assigned. */
function givenName(parent, node, code) {
  switch (parent?.type) {
    case "MethodDefinition":
    case "PropertyDefinition":
    case "Property":
      if (parent.value !== node) return undefined;
      return parent.computed ? `[${textOf(parent.key, code)}]` : textOf(parent.key, code);
    case "VariableDeclarator":
      return parent.id.name;
    case "AssignmentPattern":
    case "AssignmentExpression":
      return parent.right === node ? textOf(parent.left, code) : undefined;
    default:
      return undefined;
  }
}

function textOf({ start, end }, code) {
  return code.slice(start, end);
}

function childrenOf(node) {
  return Object.values(node)
    .flat()
    .filter((value) => typeof value?.type === "string");
}

function applyEdits(code, edits) {
  let done = 0;
  let text = "";
  for (const edit of edits.toSorted((one, other) => one.at - other.at)) {
    text += code.slice(done, edit.at) + edit.text;
    done = edit.at;
  }
  return text + code.slice(done);
}
