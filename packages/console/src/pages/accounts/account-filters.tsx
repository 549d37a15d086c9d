import { Button } from "../../ui/button.tsx";
import { Choice } from "../../ui/choice.tsx";
import { TypedFilter } from "../../ui/typed-filter.tsx";
import { accountStates } from "../../words/accounts.ts";
import { useToolkits } from "../tools/catalog.ts";
import { type AccountsSearch, isFiltered, noFilters } from "./filters.ts";

/** The filters of the list of accounts. */
export function AccountFilters({
  projectId,
  search,
  onChange,
}: {
  projectId: string;
  search: AccountsSearch;
  onChange: (change: AccountsSearch) => void;
}) {
  const toolkits = useToolkits(projectId);
  return (
    <>
      <TypedFilter
        label="Entity"
        short
        value={search.entity ?? ""}
        onChange={(entity) => onChange({ entity: entity || undefined })}
      />
      <Choice
        label="Toolkit"
        value={search.toolkit ?? ""}
        options={[
          { value: "", words: "any" },
          ...toolkits.map(({ slug, name }) => ({ value: slug, words: slug, note: name })),
        ]}
        onChange={(toolkit) => onChange({ toolkit: toolkit || undefined })}
      />
      <Choice
        label="State"
        value={search.state ?? ""}
        options={[{ value: "", words: "any" }, ...accountStates.map((value) => ({ value, words: value }))]}
        onChange={(value) => onChange({ state: accountStates.find((known) => known === value) })}
      />
      {isFiltered(search) && (
        <Button kind="quiet" icon="cross" onPress={() => onChange(noFilters)}>
          Clear filters
        </Button>
      )}
    </>
  );
}
