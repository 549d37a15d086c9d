// Makes the bill of materials in the format CycloneDX.
import { Contrib, Enums, Models, Serialize, Spec } from "@cyclonedx/cyclonedx-library";
import { PackageURL } from "packageurl-js";
import parseExpression from "spdx-expression-parse";
import { readManifest } from "./sources.mjs";

const { Builders, Factories } = Contrib.FromNodePackageJson;
const licences = new Contrib.License.Factories.LicenseFactory(parseExpression);
const builder = new Builders.ComponentBuilder(new Factories.ExternalReferenceFactory(), licences);

/**
 * Returns the bill of materials as JSON. It lists every package in `folders`; the service itself is described by `manifest`. It contains no
 * time and no random number, so the same packages give the same text.
 */
export function sbomOf(manifest, folders) {
  const bom = new Models.Bom();
  const service = componentOf(manifest, Enums.ComponentType.Application);
  bom.metadata.component = service;
  for (const folder of folders) {
    const component = componentOf(readManifest(folder), Enums.ComponentType.Library);
    bom.components.add(component);
    service.dependencies.add(component.bomRef);
  }
  const serializer = new Serialize.JsonSerializer(new Serialize.JSON.Normalize.Factory(Spec.Spec1dot6));
  return `${serializer.serialize(bom, { sortLists: true, space: 2 })}\n`;
}

function componentOf(manifest, type) {
  const component = builder.makeComponent(manifest, type);
  const [name, group] = manifest.name.split("/").reverse();
  component.purl = new PackageURL("npm", group, name, manifest.version).toString();
  component.bomRef.value = component.purl;
  return component;
}
