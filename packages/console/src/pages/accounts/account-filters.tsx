import { anyOf, anyOption, Choice } from "../../ui/choice.tsx";
import { ClearFilters } from "../../ui/clear-filters.tsx";
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
        options={[anyOption, ...toolkits.map(({ slug, name }) => ({ value: slug, words: slug, note: name }))]}
        onChange={(toolkit) => onChange({ toolkit: toolkit || undefined })}
      />
      <Choice
        label="State"
        value={search.state ?? ""}
        options={anyOf(accountStates)}
        onChange={(value) => onChange({ state: accountStates.find((known) => known === value) })}
      />
      {isFiltered(search) && <ClearFilters onPress={() => onChange(noFilters)} />}
    </>
  );
}
