import { type ProjectId, quotaFaults } from "@svc/core";
import type { FoundToolkitClient } from "@svc/db/catalog/clients";
import type { SourceChange } from "@svc/db/catalog/sources";
import { classToConfirm } from "../build/class-to-confirm.ts";
import { catalogFaults } from "../errors.ts";
import type { Toolkit } from "../model.ts";
import { DefinitionError, type FileFault } from "../read/definition-file.ts";
import { accessClasses } from "../read/documents.ts";
import type { CatalogView } from "../view/view.ts";
import type { CatalogViews, PublishedToolkit } from "./private-toolkits.ts";

/** How a toolkit (the tools of one app) is stored: only checked, only as a new one, and with which source. */
type PublishOptions = {
  readonly dryRun: boolean;
  readonly mustBeNew: boolean;
  readonly source: SourceChange | undefined;
  /** OAuth client of the project that is stored with the toolkit. Default: the stored client stays. */
  readonly client?: FoundToolkitClient | undefined;
};

/**
 * Stores a checked toolkit (the tools of one app) for a project. With `dryRun`, only checks the toolkit against the catalog. Rejects with
 * TOOLKIT_SLUG_TAKEN if `mustBeNew` is true and the project already sees a toolkit with this slug. Also rejects with DEFINITION_INVALID,
 * CHANGES_OUTDATED or the error of a quota.
 */
type Publisher = (projectId: ProjectId, made: PublishedToolkit, options: PublishOptions) => Promise<void>;

/** Creates the function that stores the private toolkits (apps that a project defined) of all projects. */
export function createPublisher(views: CatalogViews): Publisher {
  return async (projectId, made, { dryRun, ...options }) => {
    const { slug } = made.toolkit;
    const { mustBeNew, source } = options;
    const seen = mustBeNew ? (await views.forProject(projectId)).toolkits.get(slug) : undefined;
    const isBound = source?.kind === "put" && source.source.kind === "shared";
    // A bound copy of a shared toolkit takes the place of that toolkit.
    if (seen !== undefined && !(isBound && seen.ownerProjectId === "")) throw catalogFaults.TOOLKIT_SLUG_TAKEN(slug);
    // svc ships the tool that identifies an account of a bound copy. If it sends a POST, it is only called by a test of the account.
    const identify = isBound ? [] : faultsOfIdentify(made.toolkit);
    const refused = [...faultsOfLowered(made.toolkit, views.shared), ...identify];
    if (refused.length > 0) throw catalogFaults.DEFINITION_INVALID(new DefinitionError(refused));
    const refusal = dryRun ? undefined : await views.publish(projectId, made, options);
    if (refusal === "taken") throw catalogFaults.TOOLKIT_SLUG_TAKEN(slug);
    if (refusal === "outdated")
      throw catalogFaults.CHANGES_OUTDATED(slug, source?.kind === "trust" ? "slug" : "digest");
    if (refusal !== undefined) throw quotaFaults[refusal.quota](refusal.quotaReached);
  };
}

/**
 * Returns the errors of the tools in a private toolkit (an app that one project defined for itself). A tool has an error if it replaces a
 * shared tool with the same slug, but declares a less dangerous class (for example `read` instead of `write`).
 */
function faultsOfLowered({ actions }: Toolkit, { tools }: CatalogView): FileFault[] {
  return actions.flatMap(({ slug, name, class: declared }) => {
    const hidden = tools.get(slug)?.class ?? declared;
    const [file, path, cure] = [`tools.${name}`, "class", `write ${hidden}`];
    const reason = `is ${declared}, and the shared tool ${slug} that it hides is ${hidden}`;
    return accessClasses.indexOf(declared) < accessClasses.indexOf(hidden) ? [{ file, path, reason, cure }] : [];
  });
}

/**
 * Returns an error if the tool that identifies an account needs a person's confirmation. svc calls this tool while a person connects an
 * account, when the call cannot be confirmed.
 */
function faultsOfIdentify({ identify, actions }: Toolkit): FileFault[] {
  const action = actions.find(({ name }) => name === identify?.tool);
  if (action === undefined || classToConfirm(action) === "read") return [];
  const reason = `"${action.name}" sends a ${action.request.method}, and connecting sends it unasked`;
  return [{ file: "toolkit", path: "identify.tool", reason, cure: "name a tool that sends a GET" }];
}
