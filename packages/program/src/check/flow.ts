import type { Path } from "../json.ts";
import type { Scope } from "../types/scope.ts";

/** A name that a part of a program uses: its first word, and the path after it. `set`: the part takes the rows of this set. */
type UsedName = { readonly root: Parameters<NonNullable<Scope["onRead"]>>[0]; readonly path: Path };

/** A step, or a call of a `map` step, by its place in the program. */
type PlacedStep = { readonly pointer: string };

/** The data flow of a program, recorded while the program is checked: each name that a part reads, and that exists at this place. */
export type FlowRecord = {
  /** Records the names that a step can use (`scope`). Returns the same names, with a function that records those that the step uses. */
  enter(step: PlacedStep, scope: Scope): Scope;
  /** Returns a function that records the names which a value of the program's result uses. `name`: name of the value. */
  readsOfResult(name: string): NonNullable<Scope["onRead"]>;
  /** Returns the names that a step can use, or undefined if the check did not reach the step. */
  scopeOf(step: PlacedStep): Scope | undefined;
  /** Returns the names that a step uses, each once, in the order of the check. */
  usesOf(step: PlacedStep): readonly UsedName[];
  /** Returns the names that a value of the program's result uses, each once. */
  usesOfResult(name: string): readonly UsedName[];
};

/** Creates an empty record of a program's data flow. */
export function createFlow(): FlowRecord {
  const scopes = new Map<string, Scope>();
  const ofSteps = new Map<string, Map<string, UsedName>>();
  const ofResult = new Map<string, Map<string, UsedName>>();
  const recorder = (all: Map<string, Map<string, UsedName>>, key: string): NonNullable<Scope["onRead"]> => {
    const uses = all.get(key) ?? new Map<string, UsedName>();
    all.set(key, uses);
    return (root, path) => uses.set(JSON.stringify([root, ...path]), { root, path });
  };
  return {
    enter({ pointer }, scope) {
      // A step can ask a question after it has ended. The names of its question then include its own results, but those of the step do not.
      // The check adds each step to `ended` when it has checked the step, so the present names are copied.
      if (!scopes.has(pointer)) scopes.set(pointer, { ...scope, ended: new Map(scope.ended) });
      return { ...scope, onRead: recorder(ofSteps, pointer) };
    },
    readsOfResult: (name) => recorder(ofResult, name),
    scopeOf: ({ pointer }) => scopes.get(pointer),
    usesOf: ({ pointer }) => [...(ofSteps.get(pointer)?.values() ?? [])],
    usesOfResult: (name) => [...(ofResult.get(name)?.values() ?? [])],
  };
}
