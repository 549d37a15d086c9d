import type { Action, CatalogView, JsonSchema, SchemaValidator, Toolkit } from "@svc/catalog";
import type { FaultList } from "../faults.ts";
import type { SkillName } from "../skill-name.ts";
import type { FlowRecord } from "./flow.ts";
import type { KnownSkills, SkillText } from "./known-skill.ts";

/** A question of the check: does this entity (customer or user) have an active account of this toolkit (app)? */
export type AccountQuestion = { readonly toolkit: Toolkit; readonly entity: string };

/** The functions and data against which a program is checked: the project's tools, accounts, contacts, secrets and hosts. */
export type CheckContext = {
  readonly view: CatalogView;
  /** Runs a synchronous part of the check, and charges its time to the project. Default: the time is not charged. */
  run?<Result>(this: void, part: () => Result): Result;
  /**
   * For each question, returns true if the project has the account that the question describes. The results are in the order of the
   * questions. Called at most once for each program, and not at all without questions. No question occurs twice.
   */
  hasAccounts(questions: readonly AccountQuestion[]): Promise<readonly boolean[]>;
  /**
   * Returns for each principal, in the same order, true if it is a contact of the project. No principal occurs twice. Not called with an
   * empty list.
   */
  hasContacts(principals: readonly string[]): Promise<readonly boolean[]>;
  /**
   * Returns a skill of the project, or undefined if it does not exist. Version 0 means the newest version. If this function is absent, the
   * project has no skills.
   */
  findSkill?(name: SkillName): Promise<SkillText | undefined>;
  /**
   * Only for the program of a skill (a program that is called as a tool): the chain of skill versions through which it runs, as
   * `slug@version`. The first version runs the second version, and so on.
   */
  readonly within?: readonly string[];
  /**
   * Returns for each name, in the same order, true if the project has a named secret (a credential that jobs use by name) of that name. The
   * list never contains a name twice. Not called with an empty list.
   */
  hasSecrets(names: readonly string[]): Promise<readonly boolean[]>;
  /** Returns the hosts that `http` steps of the project may call. Not called for a program without `http` steps. */
  httpHosts(): Promise<ReadonlySet<string>>;
  /**
   * True if the checked text is the stored program of a skill. That program was accepted earlier, so rules that were added later do not
   * apply to it. Default false.
   */
  readonly isStored?: boolean;
  /**
   * True if the program text does not contain its final input, because the input is given when the program is started. The program's own
   * `input` may then lack fields that inputSchema requires. Default false.
   */
  readonly isInputMade?: boolean;
};

/**
 * The data and functions that all parts of a program's check share: the list of faults, the catalog of tools, and the tools and skills that
 * the program names.
 */
export type Check = {
  readonly faults: FaultList;
  readonly view: CatalogView;
  /** The actions (tools) that the program may call, by slug. */
  readonly actions: Map<string, Action>;
  /** True if the program was accepted earlier: rules that were added later do not apply. */
  readonly isStored: boolean;
  /** True if the program's input is given when the program is started, and not written in the program text. */
  readonly isInputMade: boolean;
  /** The skills that the program names. */
  readonly skills: KnownSkills;
  /** Collects the names that each step uses, and those that it may use. Undefined if the caller of the check does not need them. */
  readonly flow: FlowRecord | undefined;
  validator(action: Action, schema: JsonSchema): SchemaValidator;
  /** Returns a validator for a JSON Schema that a project wrote, or for a part of such a schema. */
  tenantValidator(this: void, schema: JsonSchema): SchemaValidator;
};
