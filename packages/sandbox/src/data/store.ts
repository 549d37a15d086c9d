import { LeastRecentlyUsed, type ProjectId } from "@svc/core";
import type { Facts } from "./facts.ts";

/** Limits of the memory in which emulated apps (the sandbox) keep the objects that calls have made or listed. */
export type StoreLimits = {
  readonly projectsMax: number;
  readonly objectsPerProjectMax: number;
  /** Maximum characters of known values (facts) in all projects together. */
  readonly charactersMax: number;
};

const usualLimits: StoreLimits = { projectsMax: 1000, objectsPerProjectMax: 10_000, charactersMax: 64 * 1024 * 1024 };

/**
 * Maximum characters of the known values (facts) of one object, as JSON. If the known values are longer, the store keeps the object without
 * them. All fields of the object then get made-up values.
 */
const factsCharactersMax = 64 * 1024;

/** Characters that each stored object counts in addition to its values, in the memory limit of the store. */
const objectCharacters = 512;

/**
 * The place of an object in the store ("shelf"). `app`: its app. `kind`: its kind. `scope`: the ids of the objects that contain it; the
 * object's own id is unique only within this scope.
 */
export type Shelf = { readonly app: string; readonly kind: string; readonly scope: string };

/** An object that the sandbox has stored, with the values of its fields that calls have set. All other fields are made up from its id. */
export type StoredObject = {
  readonly shelf: Shelf;
  readonly id: string;
  /**
   * State of an emulated object of an app. `made`: a call created it, so lists show it. `known`: a call changed an object that already
   * existed. `gone`: a call deleted it.
   */
  readonly state: "made" | "known" | "gone";
  readonly facts: Facts;
  /** Time at which a call made the object, in epoch milliseconds. `changedMs`: time at which a call last changed it. */
  readonly madeMs?: number | undefined;
  readonly changedMs?: number | undefined;
};

type Entry = { readonly object: StoredObject; readonly characters: number };

/**
 * The objects that calls to the sandbox (the apps that svc plays itself) made or changed, for every project. They are in memory and are
 * lost at a restart. If a limit is exceeded, the store removes the objects that were not used for the longest time. A deleted object stays
 * in the store with the state `gone`, so that a read of it is answered with "not found".
 */
export class ObjectStore {
  readonly #limits: StoreLimits;
  readonly #projects: LeastRecentlyUsed<ProjectId, LeastRecentlyUsed<string, Entry>>;
  #characters = 0;

  constructor(limits: Partial<StoreLimits> = {}) {
    this.#limits = { ...usualLimits, ...limits };
    this.#projects = new LeastRecentlyUsed(this.#limits.projectsMax, (objects) => {
      while (objects.evict());
    });
  }

  find(projectId: ProjectId, shelf: Shelf, id: string): StoredObject | undefined {
    return this.#projects.get(projectId)?.get(keyOf(shelf, id))?.object;
  }

  put(projectId: ProjectId, object: StoredObject): void {
    const written = JSON.stringify(object.facts).length;
    const isKept = written <= factsCharactersMax;
    const characters = objectCharacters + (isKept ? written : 0);
    this.#characters += characters;
    const kept = isKept ? object : { ...object, facts: {} };
    this.#objectsOf(projectId).set(keyOf(object.shelf, object.id), { object: kept, characters });
    while (this.#characters > this.#limits.charactersMax) {
      if (this.#projects.oldest()?.evict() !== true && !this.#projects.evict()) return;
    }
  }

  /**
   * Returns the emulated objects on a shelf that calls created and did not delete. A shelf contains the objects of one app, kind and parent
   * object. The object that was not used for the longest time comes first.
   */
  made(projectId: ProjectId, { app, kind, scope }: Shelf): StoredObject[] {
    const objects = [...(this.#projects.get(projectId)?.values() ?? [])].map(({ object }) => object);
    return objects.filter(({ shelf, state }) => {
      return state === "made" && shelf.kind === kind && shelf.app === app && shelf.scope === scope;
    });
  }

  #objectsOf(projectId: ProjectId): LeastRecentlyUsed<string, Entry> {
    let objects = this.#projects.get(projectId);
    if (objects === undefined) {
      objects = new LeastRecentlyUsed(this.#limits.objectsPerProjectMax, ({ characters }) => {
        this.#characters -= characters;
      });
      this.#projects.set(projectId, objects);
    }
    return objects;
  }
}

function keyOf({ app, kind, scope }: Shelf, id: string): string {
  return JSON.stringify([app, kind, scope, id]);
}
