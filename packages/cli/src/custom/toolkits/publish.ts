import { CatalogService, PublishToolkitResponseSchema } from "@svc/gen/catalog";
import { ConnectError, svcErrorDetails } from "@svc/sdk";
import { command, type Run } from "../../command/declared.ts";
import { CommandError } from "../../command/error.ts";
import { messageText } from "../../text/message.ts";
import { countText } from "../../text/table.ts";
import { definitionJsonOf, placeOf, readToolkitFolder } from "./toolkit-folder.ts";

type PublishOptions = { readonly dryRun?: true; readonly folder: string };

/** The command `svc toolkits publish`, which publishes a toolkit for the project of the API key. */
export const addCatalogPublish = command(
  CatalogService.method.publishToolkit,
  {
    says: "publish a toolkit for the key's project, replacing an earlier one of the same slug; needs an approver's key",
    takes: { "<folder>": "folder of the toolkit, with toolkit.yaml and tools/<tool>.yaml" },
    options: [["--dry-run", "check the toolkit on the service without storing it"]],
    examples: ["svc toolkits publish my-toolkits/task_list --dry-run", "svc toolkits publish my-toolkits/task_list"],
  },
  async ({ values: options, context, project, asJson }: Run<PublishOptions>) => {
    const { folder } = options;
    const files = await readToolkitFolder(folder);
    const { definitionFaultText } = await import("@svc/catalog");
    for (const fault of files.faults) context.print(definitionFaultText(fault));
    if (files.faults.length > 0)
      throw new CommandError(`${countText(files.faults.length, "problem")} in ${folder}: nothing is sent`);
    const client = await project();
    try {
      const published = await client.catalog.publishToolkit({
        definitionJson: definitionJsonOf(files),
        dryRun: options.dryRun ?? false,
      });
      if (asJson) return context.print(messageText(PublishToolkitResponseSchema, published));
      const { toolkit, toolSlugs } = published;
      const text = `${toolkit?.slug} ${toolkit?.version} with ${countText(toolSlugs.length, "tool")}`;
      const outcome = options.dryRun ? "can be published in" : "is published in";
      context.print(`${text} ${outcome} project ${toolkit?.ownerProjectId}`);
    } catch (err) {
      const details = err instanceof ConnectError ? svcErrorDetails(err) : [];
      const found = details.filter(({ reason }) => reason === "DEFINITION_INVALID");
      if (found.length === 0) throw err;
      for (const { field, help } of found) {
        const { file, line, path } = placeOf(files, field.replace(/^definitionJson\.?/, ""));
        context.print(`${file}${line === undefined ? "" : `:${line}`}${path === "" ? "" : ` ${path}`}: ${help}`);
      }
      const count =
        found.length < detailsMax ? countText(found.length, "problem") : `the first ${detailsMax} of its problems`;
      throw new CommandError(`the service refuses ${folder}: ${count}, nothing is published`);
    }
  },
);

/** Maximum number of errors in a definition that the server names in one answer. If there are that many, there may be more. */
const detailsMax = 100;
