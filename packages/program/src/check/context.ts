import type { Action, CatalogView, JsonSchema, SchemaValidator, Toolkit } from "@svc/catalog";
import type { FaultList } from "../faults.ts";
import type { SkillName } from "../skill-name.ts";
import type { KnownSkills, SkillText } from "./known-skill.ts";

/** The question whether an entity has an active account of a toolkit. */
export type AccountQuestion = { readonly toolkit: Toolkit; readonly entity: string };

/** The state that a program is checked against: the project's catalog, accounts and contacts. */
export type CheckContext = {
  readonly view: CatalogView;
  /** Answers all account questions of a program at once, in order, each one time. Not called if there are none. */
  hasAccounts(questions: readonly AccountQuestion[]): Promise<readonly boolean[]>;
  /** Answers for each principal if it is a contact of the project, in order, each one time. Not called if there are none. */
  hasContacts(principals: readonly string[]): Promise<readonly boolean[]>;
  /** Returns a skill of the project; version 0 means the newest. If absent, the project has no skill. */
  findSkill?(name: SkillName): Promise<SkillText | undefined>;
  /** For the program of a skill: the enclosing versions, as `slug@version`. */
  readonly within?: readonly string[];
  /** Answers for each name if it is a secret of the project, in order, each one time. Not called if there are none. */
  hasSecrets(names: readonly string[]): Promise<readonly boolean[]>;
  /** Returns the hosts that http steps of the project may call. Not called for a program without one. */
  httpHosts(): Promise<ReadonlySet<string>>;
  /** True for the program of a skill, which was accepted before: faults of newer rules are ignored. Default false. */
  readonly isStored?: boolean;
  /** True if the caller that starts it creates its input. Its own input may then lack fields that inputSchema requires. Default false. */
  readonly isInputMade?: boolean;
};

/** A check in progress: its findings, and the questions to ask when everything was read. */
export type Check = {
  readonly faults: FaultList;
  readonly view: CatalogView;
  /** Actions that the program may call, by slug. */
  readonly actions: Map<string, Action>;
  /** True if the program was accepted before: newer rules do not apply. */
  readonly isStored: boolean;
  /** True if the caller that starts it creates its input. */
  readonly isInputMade: boolean;
  /** The skills that it names. */
  readonly skills: KnownSkills;
  validator(action: Action, schema: JsonSchema): SchemaValidator;
  /** Validates a schema that a project wrote, or a part of one. */
  tenantValidator(this: void, schema: JsonSchema): SchemaValidator;
};
