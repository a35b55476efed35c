//! Surfaces that rub, matter that bends, groups that meet.

use super::described::described;
use super::form::{ANY, FieldInfo, Fields, Form, NOT_NEGATIVE, POISSON, POSITIVE, Reader, Rule, SHARE, tell, unknown};
use super::schema::{Schemas, object};
use super::tree::{Entry, Node, Value};
use sinew::friction::Law;
use sinew::{ElasticMaterial, Grain, Groups, Real, SurfaceMaterial, Sym3};

/// A surface: its friction alone, or a table.
impl Form for SurfaceMaterial {
    fn read(node: &Node, rule: &Rule, reader: &mut Reader<'_>) -> Option<Self> {
        match &node.value {
            Value::Table(entries) => reader.fields(entries, node.span, &[], read_surface),
            Value::Int(_) | Value::Float(_) => Real::read(node, &NOT_NEGATIVE, reader).map(SurfaceMaterial::friction),
            _ => reader.unexpected(node, &Self::wants(rule)),
        }
    }

    fn write(&self) -> Value {
        let SurfaceMaterial { static_friction, kinetic_friction, restitution, .. } = self;
        let SurfaceMaterial { rolling_resistance, spinning_resistance, law, family, grain, .. } = self;
        let zero = |x: &Real| if *x == 0.0 { Value::Nothing } else { x.write() };
        let frictions = if static_friction == kinetic_friction {
            [("friction", static_friction.write()), ("", Value::Nothing)]
        } else {
            [("static_friction", static_friction.write()), ("kinetic_friction", kinetic_friction.write())]
        };
        let rest = [
            ("restitution", zero(restitution)),
            ("rolling_resistance", zero(rolling_resistance)),
            ("spinning_resistance", zero(spinning_resistance)),
            ("law", if *law == Law::default() { Value::Nothing } else { law.write() }),
            ("family", if *family == 0 { Value::Nothing } else { family.write() }),
            ("grain", grain.map_or(Value::Nothing, |g| g.write())),
        ];
        Value::table(frictions.into_iter().chain(rest))
    }

    fn schema(_: &Rule, schemas: &mut Schemas) -> Value {
        schemas.define("surface", |schemas| {
            let number = Real::schema(&NOT_NEGATIVE, schemas);
            let mut fields = Vec::new();
            let d = SurfaceMaterial::default();
            let mut add = |name, about, rule: &Rule, default: &Real| {
                tell(&mut fields, schemas, (name, about), rule, Ok(default));
            };
            add("friction", "Friction coefficient while sticking and slipping.", &NOT_NEGATIVE, &d.static_friction);
            add("static_friction", "Friction coefficient while sticking.", &NOT_NEGATIVE, &d.static_friction);
            add("kinetic_friction", "Friction coefficient while slipping.", &NOT_NEGATIVE, &d.kinetic_friction);
            add("restitution", "Speed after / before an impact.", &SHARE, &d.restitution);
            add("rolling_resistance", "Lever of rolling resistance [m].", &NOT_NEGATIVE, &d.rolling_resistance);
            add("spinning_resistance", "Lever of spinning resistance [m].", &NOT_NEGATIVE, &d.spinning_resistance);
            tell(&mut fields, schemas, ("law", "How friction depends on slip."), &ANY, Ok(&d.law));
            let about = "The number of its family, for the table of pairs; 0: none in particular.";
            tell(&mut fields, schemas, ("family", about), &NOT_NEGATIVE, Ok(&d.family));
            let about = "Another friction across a direction than along it; rigid bodies only.";
            tell(&mut fields, schemas, ("grain", about), &ANY, Ok(&d.grain));
            let table = object("How a surface rubs and bounces.", None, fields);
            Value::table([("anyOf", Value::list([number, table]))])
        })
    }

    fn wants(_: &Rule) -> String {
        "a surface: its friction, or a table".to_owned()
    }
}

fn read_surface(fields: &mut Fields<'_, '_, '_>) -> Option<SurfaceMaterial> {
    let mut it = SurfaceMaterial::default();
    if let Some(mu) = fields.optional("friction", &NOT_NEGATIVE) {
        it = SurfaceMaterial::friction(mu);
    }
    fields.set("static_friction", &NOT_NEGATIVE, &mut it.static_friction);
    // a surface that sticks less than usual does not slip more than it sticks
    it.kinetic_friction = it.kinetic_friction.min(it.static_friction);
    fields.set("kinetic_friction", &NOT_NEGATIVE, &mut it.kinetic_friction);
    if it.kinetic_friction > it.static_friction {
        fields.problem("kinetic_friction", "expected at most the static coefficient");
    }
    fields.set("restitution", &SHARE, &mut it.restitution);
    fields.set("rolling_resistance", &NOT_NEGATIVE, &mut it.rolling_resistance);
    fields.set("spinning_resistance", &NOT_NEGATIVE, &mut it.spinning_resistance);
    fields.set("law", &ANY, &mut it.law);
    fields.set("family", &NOT_NEGATIVE, &mut it.family);
    it.grain = fields.optional("grain", &ANY);
    if it.grain.is_some_and(|g| g.direction.length() == 0.0) {
        fields.problem("grain", "expected a direction that is not zero");
    }
    Some(it)
}

described!(Groups, Law, Grain);

/// ElasticMaterial: the name of a preset, or a table that may begin from one.
impl Form for ElasticMaterial {
    fn read(node: &Node, rule: &Rule, reader: &mut Reader<'_>) -> Option<Self> {
        let matter = match &node.value {
            Value::Text(_) => preset(node, reader),
            Value::Table(entries) => read_matter(entries, node, reader),
            _ => reader.unexpected(node, &Self::wants(rule)),
        }?;
        reader.matter = Some(matter);
        Some(matter)
    }

    fn write(&self) -> Value {
        let ElasticMaterial { density, youngs_modulus, poisson_ratio, damping, friction } = self;
        Value::table([
            ("youngs_modulus", youngs_modulus.write()),
            ("poisson_ratio", poisson_ratio.write()),
            ("density", density.write()),
            ("damping", damping.write()),
            ("friction", friction.write()),
        ])
    }

    fn schema(_: &Rule, schemas: &mut Schemas) -> Value {
        schemas.define("material", |schemas| {
            let names = ElasticMaterial::PRESETS.map(|(name, _)| Value::text(name));
            let names = Value::table([("enum", Value::list(names))]);
            let mut fields = vec![FieldInfo {
                name: "preset",
                about: "Begin from the numbers of this one.",
                schema: names.clone(),
                required: false,
                default: Value::Nothing,
            }];
            let mut add = |name, about, rule: &Rule| {
                let number: Real = 0.0;
                tell(&mut fields, schemas, (name, about), rule, Err(&number));
                if let Some(field) = fields.last_mut() {
                    field.required = false;
                }
            };
            add("youngs_modulus", "Young's modulus at small strain [Pa].", &POSITIVE);
            add("poisson_ratio", "Poisson's ratio.", &POISSON);
            add("density", "Density [kg/m³].", &POSITIVE);
            add("damping", "Stiffness-proportional damping [s].", &NOT_NEGATIVE);
            add("friction", "Friction of its surface.", &NOT_NEGATIVE);
            let table = object("What a soft body is made of.", None, fields);
            Value::table([("anyOf", Value::list([names, table]))])
        })
    }

    fn wants(_: &Rule) -> String {
        "a material: the name of a preset, or a table".to_owned()
    }
}

fn preset(node: &Node, reader: &mut Reader<'_>) -> Option<ElasticMaterial> {
    let Value::Text(name) = &node.value else {
        return reader.unexpected(node, "the name of a preset");
    };
    let found = ElasticMaterial::named(name);
    if found.is_none() {
        let known = ElasticMaterial::PRESETS.map(|(name, _)| name);
        reader.problem(node.span, unknown("material", name, &known));
    }
    found
}

fn read_matter(entries: &[Entry], node: &Node, reader: &mut Reader<'_>) -> Option<ElasticMaterial> {
    reader.fields(entries, node.span, &["preset"], |fields| {
        let begun = entries.iter().find(|e| *e.key == *"preset");
        let base = begun.map(|entry| fields.reader.within("preset", |r| preset(&entry.node, r)));
        let plain = ElasticMaterial::new(1e5, 0.3, 1000.0);
        let from = base.flatten().unwrap_or(plain);
        // without a preset the parameters of the material are required
        let youngs_modulus = fields.given("youngs_modulus", &POSITIVE, base.map(|_| from.youngs_modulus));
        let poisson_ratio = fields.given("poisson_ratio", &POISSON, Some(from.poisson_ratio));
        let density = fields.given("density", &POSITIVE, Some(from.density));
        let damping = fields.given("damping", &NOT_NEGATIVE, Some(from.damping));
        let friction = fields.given("friction", &NOT_NEGATIVE, Some(from.friction));
        Some(ElasticMaterial {
            youngs_modulus: youngs_modulus?,
            poisson_ratio: poisson_ratio?,
            density: density?,
            damping: damping?,
            friction: friction?,
        })
    })
}

/// An inertia: `[xx, yy, zz, xy, xz, yz]`.
impl Form for Sym3 {
    fn read(node: &Node, rule: &Rule, reader: &mut Reader<'_>) -> Option<Self> {
        let [xx, yy, zz, xy, xz, yz] = <[Real; 6]>::read(node, rule, reader)?;
        Some(Sym3 { xx, yy, zz, xy, xz, yz })
    }

    fn write(&self) -> Value {
        [self.xx, self.yy, self.zz, self.xy, self.xz, self.yz].write()
    }

    fn schema(rule: &Rule, schemas: &mut Schemas) -> Value {
        <[Real; 6]>::schema(rule, schemas)
    }

    fn wants(rule: &Rule) -> String {
        <[Real; 6]>::wants(rule)
    }
}
