import type { Action, CatalogView, JsonSchema, SchemaValidator, Toolkit } from "@svc/catalog";
import type { FaultList } from "../faults.ts";
import type { SkillName } from "../skill-name.ts";
import type { KnownSkills, SkillText } from "./known-skill.ts";

/** Whether an entity has an active account of a toolkit. */
export type AccountQuestion = { readonly toolkit: Toolkit; readonly entity: string };

/** What a program is checked against: the project's view of the catalog, its accounts and its contacts. */
export type CheckContext = {
  readonly view: CatalogView;
  /** Answers all questions of a program at once, in their order; each is asked once. Not called when there is none. */
  hasAccounts(questions: readonly AccountQuestion[]): Promise<readonly boolean[]>;
  /** Whether each is a contact of the project, in their order; each is asked once. Not called when there is none. */
  hasContacts(principals: readonly string[]): Promise<readonly boolean[]>;
  /** A skill of the project; of version 0 the newest. Without it there is none. */
  findSkill?(name: SkillName): Promise<SkillText | undefined>;
  /** Of the program of a skill that another runs: the versions that stand around it, as `slug@version`. */
  readonly within?: readonly string[];
  /** Whether each is a secret of the project, in their order; each is asked once. Not called when there is none. */
  hasSecrets(names: readonly string[]): Promise<readonly boolean[]>;
  /** The hosts that http steps of the project may call. Not called for a program without one. */
  httpHosts(): Promise<ReadonlySet<string>>;
  /**
   * Whether it is the program of a skill, which was accepted before: what has been refused only since is let pass. Default false.
   */
  readonly isStored?: boolean;
  /** Whether whoever starts it makes what it takes: its own input may leave out what inputSchema requires. Default false. */
  readonly isInputMade?: boolean;
};

/** One check under way: what was found, and the questions that are put when everything was looked at. */
export type Check = {
  readonly faults: FaultList;
  readonly view: CatalogView;
  /** Actions that the program may call, by slug. */
  readonly actions: Map<string, Action>;
  /** Whether the program was accepted before: rules that are younger than it do not hold. */
  readonly isStored: boolean;
  /** Whether its input is made by what starts it. */
  readonly isInputMade: boolean;
  /** The skills that it names. */
  readonly skills: KnownSkills;
  validator(action: Action, schema: JsonSchema): SchemaValidator;
  /** Of a schema that a project wrote, or of a part of one. */
  tenantValidator(this: void, schema: JsonSchema): SchemaValidator;
};
