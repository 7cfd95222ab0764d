// What `import … from "mica"` gives: JSON Schemas in few words, called as in TypeBox.
const OPTIONAL = Symbol.for("mica.optional");
const made = (schema, options) => ({ ...schema, ...options });
const literal = (value) => ({ const: value, type: typeof value });

export const Type = Object.freeze({
  Object: (properties, options) => {
    const required = Object.keys(properties).filter((name) => !properties[name][OPTIONAL]);
    return made({ type: "object", properties, ...(required.length ? { required } : {}) }, options);
  },
  String: (options) => made({ type: "string" }, options),
  Number: (options) => made({ type: "number" }, options),
  Integer: (options) => made({ type: "integer" }, options),
  Boolean: (options) => made({ type: "boolean" }, options),
  Null: (options) => made({ type: "null" }, options),
  Any: (options) => made({}, options),
  Unknown: (options) => made({}, options),
  Array: (items, options) => made({ type: "array", items }, options),
  Tuple: (items, options) => made({ type: "array", prefixItems: items, minItems: items.length, maxItems: items.length }, options),
  Record: (_, values, options) => made({ type: "object", additionalProperties: values }, options),
  Optional: (schema) => ({ ...schema, [OPTIONAL]: true }),
  Union: (schemas, options) =>
    schemas.every((schema) => "const" in schema && schema.type === schemas[0].type)
      ? made({ type: schemas[0].type, enum: schemas.map((schema) => schema.const) }, options)
      : made({ anyOf: schemas }, options),
  Literal: (value, options) => made(literal(value), options),
  Enum: (values, options) => made({ enum: Array.isArray(values) ? values : Object.values(values) }, options),
  Unsafe: (schema) => ({ ...schema }),
});

export const StringEnum = (values, options) => made({ type: "string", enum: [...values] }, options);
