import { checkTemplates } from "./check-placeholders.ts";
import type { DefinitionFile } from "./definition-file.ts";
import type { ToolDocument } from "./documents.ts";

/** The rules that hold for actions and triggers alike. Records every fault. */
export function checkTool(file: DefinitionFile, document: Partial<ToolDocument>, name: string): void {
  if (!/^[a-z][a-z0-9]*(_[a-z0-9]+)*$/.test(name) || name.length > 60) {
    file.fault(
      [],
      `"${name}" is not a tool name`,
      "name the file in lower-case words joined by _, at most 60 characters",
    );
  }
  checkTemplates(file, ["scopes"], document.scopes ?? [], { deployment: new Set(["scope_base"]) });
  const words = toWords(name);
  document.intents?.forEach((intent, index) => {
    // A name of one word, such as "search", is a word people use; two or more in a row are the name itself.
    const namesTool = words.trim().includes(" ") ? toWords(intent).includes(words) : toWords(intent) === words;
    if (namesTool) file.fault(["intents", index], `"${intent}" names the tool`, "say it as people ask for it");
  });
}

function toWords(text: string): string {
  const words = text.toLowerCase().match(/[a-z0-9]+/g) ?? [];
  return ` ${words.join(" ")} `;
}
