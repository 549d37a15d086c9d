import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { areFilters } from "../shell/last-filters.ts";
import {
  deleteFilter,
  isSameSearch,
  keptSearch,
  nameFault,
  type SavedFilter,
  saveFilter,
  useSavedFilters,
} from "../shell/saved-filters.ts";
import { Button } from "../ui/buttons/button.tsx";
import { TextField } from "../ui/fields/field.tsx";
import { FormFrame } from "../ui/fields/form-frame.tsx";
import { announce } from "../ui/notice/announce.tsx";
import { Dialog } from "../ui/overlay/dialog.tsx";
import { Menu } from "../ui/overlay/menu.tsx";
import type { AnySearch } from "./list-filters.tsx";

/** The filter that the dialog names. `renamed`: its present name; undefined if the dialog saves it. */
type Naming = { readonly filter: SavedFilter; readonly renamed?: string };

/**
 * Draws the menu of the saved filters of a list, and the button that saves the shown filter. `page`: path of the list below its project.
 * `isFiltered`: true if the list has a filter.
 */
export default function SavedFilters({
  projectId,
  page,
  search,
  isFiltered,
}: {
  projectId: string;
  page: string;
  search: AnySearch;
  isFiltered: boolean;
}) {
  const navigate = useNavigate();
  const [naming, setNaming] = useState<Naming>();
  const own = useSavedFilters(projectId).filter((one) => one.page === page);
  const kept = keptSearch(search);
  const shown = own.find((one) => isSameSearch(one.search, kept));
  const remove = (filter: SavedFilter) => {
    deleteFilter(projectId, filter);
    announce(`Deleted the filter ${filter.name}`);
  };
  return (
    <>
      {own.length > 0 && (
        <Menu
          label={shown === undefined ? "Saved filters" : `Saved filter: ${shown.name}`}
          kind="plain"
          entries={[
            ...own.map((filter) => ({
              ...{ id: filter.name, words: filter.name, checked: filter === shown },
              onPress: () => void navigate({ to: ".", search: filter.search as never }),
            })),
            ...(shown === undefined
              ? []
              : [
                  { id: "/rename", words: "Rename", onPress: () => setNaming({ filter: shown, renamed: shown.name }) },
                  { id: "/delete", words: "Delete", icon: "cross" as const, onPress: () => remove(shown) },
                ]),
          ]}
        >
          {shown === undefined ? "Saved filters" : `Saved filter: ${shown.name}`}
        </Menu>
      )}
      {(isFiltered || areFilters(kept)) && shown === undefined && (
        <Button kind="quiet" icon="filter" onPress={() => setNaming({ filter: { page, name: "", search: kept } })}>
          Save filter
        </Button>
      )}
      {naming !== undefined && (
        <NameDialog projectId={projectId} naming={naming} onClose={() => setNaming(undefined)} />
      )}
    </>
  );
}

function NameDialog({
  projectId,
  naming: { filter, renamed },
  onClose,
}: {
  projectId: string;
  naming: Naming;
  onClose: () => void;
}) {
  const [name, setName] = useState(filter.name);
  const [isSent, setSent] = useState(false);
  const fault = nameFault(projectId, filter.page, name, renamed);
  const save = () => {
    setSent(true);
    if (fault !== undefined) return;
    saveFilter(projectId, { ...filter, name: name.trim() }, renamed);
    announce(`Saved the filter ${name.trim()}`);
    onClose();
  };
  return (
    <Dialog
      open
      onClose={onClose}
      title={renamed === undefined ? "Save this filter" : `Rename ${renamed}`}
      hideOnInteractOutside={false}
    >
      <FormFrame onSubmit={save}>
        <TextField
          label="Name"
          value={name}
          onChange={setName}
          hint="This browser keeps the filter, with its time range, until you sign out."
          fault={isSent ? fault : undefined}
          autoComplete="off"
          isRequired
        />
        <Button kind="primary" type="submit">
          {renamed === undefined ? "Save" : "Rename"}
        </Button>
      </FormFrame>
    </Dialog>
  );
}
