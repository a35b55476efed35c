//! Scenes from the bytes of a fuzzer: a grammar of scene files in which every choice is a byte.
//!
//! The result is text, so that a failing scene can be kept, read and reduced by hand. `<name>` stands for one of the
//! alternatives of a rule; numbers are usual values, or occasionally one of [`WILD`].

use arbitrary::Unstructured;

/// Extreme numbers: zero, tiny, huge, denormal, not finite, at the limits of validation.
pub const WILD: [&str; 20] = [
    "0", "-0.0", "-1", "1e-45", "1e-38", "1e-20", "1e-9", "1e-4", "0.4999", "0.5", "1", "60", "1e4", "1e7", "1e12",
    "1e20", "3e38", "1e39", "nan", "inf",
];

/// Beyond this depth a rule takes its first alternative, which is never recursive.
const DEEPEST: u32 = 12;

/// A rule and its alternatives.
type Rule = (&'static str, &'static [&'static str]);

const RULES: &[Rule] = &[
    // numbers
    ("length", &["0.1", "0.05", "0.2", "0.02", "0.5", "1", "<wild>"]),
    ("mass", &["1", "0.1", "10", "0.001", "1000", "1e6", "<wild>"]),
    ("share", &["0.5", "0", "1", "0.1", "0.9", "<wild>"]),
    ("small", &["0", "0.01", "0.1", "1", "<wild>"]),
    ("force", &["0", "1", "10", "1000", "1e6", "-10", "<wild>"]),
    ("modulus", &["1e4", "1e3", "1e5", "1e7", "1e9", "10", "<wild>"]),
    ("ratio", &["0.3", "0", "0.25", "0.45", "0.49", "0.4999", "<wild>"]),
    ("thin", &["0.001", "0.01", "<wild>"]),
    ("count", &["1", "2", "3"]),
    ("index", &["0", "1", "2", "3", "5", "7", "26", "99999"]),
    ("many", &["4", "1", "2", "8", "20"]),
    ("bool", &["false", "true"]),
    ("place", &["[<x>, <x>, <x>]", "[0, <x>, 0]", "[0, 0.1, 0]", "[0, 0, 0]"]),
    ("lengths", &["[<length>, <length>, <length>]", "[0.1, 0.1, 0.1]"]),
    ("arrow", &["[0, 1, 0]", "[1, 0, 0]", "[0, 0, -1]", "[<x>, <x>, <x>]", "[0, 0, 0]", "[0, -9.81, 0]"]),
    ("fling", &["[0, 0, 0]", "[0, -1, 0]", "[<force>, <force>, <force>]", "[100, 0, 0]"]),
    // rigid bodies
    ("turn", &["[0, 0, 0, 1]", "{ axis = <arrow>, degrees = <angle> }", "{ axis = [0, 0, 1], degrees = 45 }"]),
    ("angle", &["0", "30", "45", "90", "180", "1e-4", "<wild>"]),
    ("pose", &["{ position = <place>, rotation = <turn> }"]),
    (
        "solid",
        &[
            "{ kind = 'ball', radius = <length> }",
            "{ kind = 'box', half_extents = <lengths> }",
            "{ kind = 'capsule', half_height = <length>, radius = <length> }",
            "{ kind = 'cylinder', half_height = <length>, radius = <length> }",
            "{ kind = 'cone', half_height = <length>, radius = <length> }",
            "{ kind = 'hull', points = [<place>, <place>, <place>, <place>, <place>] }",
            "{ kind = 'hull', points = [[0, 0, 0], [0.1, 0, 0], [0, 0.1, 0], [0, 0, <length>]] }",
            "{ kind = 'compound', parts = [{ shape = <solid>, position = <place> }, { shape = <solid>, rotation = <turn> }] }",
            "{ kind = 'mesh_hull', surface = <mesh> }",
        ],
    ),
    (
        "ground",
        &[
            "'half_space'",
            "<solid>",
            "{ kind = 'half_space', normal = <arrow> }",
            "{ kind = 'mesh', surface = <mesh> }",
            "{ kind = 'mesh_voxels', surface = <mesh>, cell = <length> }",
            "{ kind = 'height_field', heights = [<x>, 0, 0, <x>, 0, 0, 0, 0, <x>], rows = 3, scale = <lengths> }",
            "{ kind = 'voxels', size = <lengths>, cells = [[0, 0, 0], [1, 0, 0], [<index>, -1, 0]] }",
            "{ kind = 'sdf', function = <sdf> }",
        ],
    ),
    (
        "sdf",
        &[
            "'plane'",
            "{ kind = 'plane', point = <place>, normal = <arrow> }",
            "{ kind = 'sphere', center = <place>, radius = <length> }",
            "{ kind = 'cylinder', axis = <arrow>, radius = <length> }",
            "{ kind = 'box', half_extents = <lengths> }",
            "{ kind = 'intersection', parts = [<sdf>, <sdf>] }",
            "{ kind = 'union', parts = [<sdf>, <sdf>] }",
            "{ kind = 'complement', inner = <sdf> }",
            "{ kind = 'placed', pose = <pose>, inner = <sdf> }",
        ],
    ),
    (
        "mesh",
        &[
            "{ kind = 'ball', radius = <length>, cells = <count> }",
            "{ kind = 'sheet', cells = [<count>, <count>], size = [<length>, <length>] }",
            "{ kind = 'tube', radii = [0.05, 0.1], height = <length>, cells = <count> }",
            "{ kind = 'triangles', vertices = [<place>, <place>, <place>, <place>], triangles = [[0, 1, 2], [0, 2, 3], [<index>, 1, 3]] }",
        ],
    ),
    (
        "surface",
        &[
            "0.5",
            "0",
            "<small>",
            "1e6",
            "{ friction = <small>, restitution = <share>, rolling_resistance = <small>, spinning_resistance = <small> }",
            "{ static_friction = 1, kinetic_friction = <share>, law = '<lawname>' }",
            "{ friction = 0.5, law = <law>, family = <count>, grain = { direction = <arrow>, across = <share> } }",
        ],
    ),
    ("lawname", &["coulomb", "viscous", "stiction", "stribeck", "karnopp", "dahl", "lugre", "elasto-plastic"]),
    ("curve", &["{}", "{ speed = <small>, exponent = <share>, viscosity = <small> }"]),
    (
        "law",
        &[
            "'<lawname>'",
            "{ kind = 'viscous', viscosity = <small>, exponent = <share> }",
            "{ kind = 'karnopp', dead_band = <small>, curve = <curve> }",
            "{ kind = 'dahl', stiffness = <modulus>, exponent = <share> }",
            "{ kind = 'lugre', stiffness = <modulus>, damping = <small>, curve = <curve> }",
            "{ kind = 'elasto-plastic', bristle = { stiffness = <modulus> }, elastic_share = <share> }",
        ],
    ),
    (
        "rigid",
        &[
            "kind = 'dynamic'\nshape = <solid>\nmass = <mass>\nposition = <place>\n<moving>",
            "kind = 'dynamic'\nshape = <solid>\nposition = <place>\nsurface = <surface>\n<moving>",
            "kind = 'fixed'\nshape = <ground>\nsurface = <surface>\n",
            "kind = 'fixed'\nshape = <ground>\nposition = <place>\nrotation = <turn>\n",
            "kind = 'kinematic'\nshape = <solid>\nposition = <place>\nvelocity = <fling>\n",
            "kind = 'dynamic'\ncolliders = [{ shape = <solid>, density = <mass> }, { shape = <solid>, position = <place>, sensor = <bool> }]\n<moving>",
            "kind = 'dynamic'\nshape = <solid>\nmass = <mass>\nrepeat = { count = [<count>, <count>, 1], step = <place> }\n<moving>",
            "kind = 'dynamic'\nmass = <mass>\ninertia = [<mass>, 0, 0, 1, 0, 1]\ncenter_of_mass = <place>\nshape = <solid>\n",
        ],
    ),
    (
        "moving",
        &[
            "",
            "velocity = <fling>\nspin = <fling>\n",
            "continuous = true\nvelocity = <fling>\n",
            "linear_damping = <small>\nangular_damping = <small>\n",
            "gravity_scale = <force>\nrotation = <turn>\n",
            "can_sleep = false\ngroups = { member = <count>, mask = <index> }\n",
        ],
    ),
    // deformable bodies
    (
        "soft",
        &[
            "kind = 'soft'\ngeometry = <tets>\nmaterial = <material>\nmodel = <tetmodel>\n<held>",
            "kind = 'soft'\ngeometry = <sheet>\nmaterial = <material>\nmodel = <sheetmodel>\n<held>",
            "kind = 'soft'\ngeometry = <line>\nmodel = <linemodel>\n<held>",
            "kind = 'soft'\ngeometry = <cloud>\nmaterial = <material>\nmodel = <cloudmodel>\n<held>",
            "kind = 'particles'\npositions = [<place>, <place>, <place>]\nradius = <length>\nmass = <mass>\npinned = [<index>]\n",
            "kind = 'particles'\npositions = [<place>, <place>]\nvelocity = <fling>\ndamping = <small>\n",
        ],
    ),
    (
        "material",
        &[
            "'jelly'",
            "'rubber'",
            "'silk'",
            "{ youngs_modulus = <modulus>, poisson_ratio = <ratio>, density = <mass>, damping = <small>, friction = <small> }",
            "{ preset = 'jelly', poisson_ratio = <ratio> }",
            "{ preset = 'foam', youngs_modulus = <modulus> }",
        ],
    ),
    (
        "tets",
        &[
            "{ kind = 'block', cells = [<count>, <count>, <count>], size = <lengths> }",
            "{ kind = 'ball', radius = <length>, cells = <count> }",
            "{ kind = 'cylinder', radius = <length>, height = <length>, cells = <count> }",
            "{ kind = 'tube', radii = [0.05, <length>], height = <length>, cells = 2 }",
            "{ kind = 'tets', vertices = [<place>, <place>, <place>, <place>, <place>], tets = [[0, 1, 2, 3], [1, 2, 3, <index>]] }",
            "{ kind = 'tets', vertices = [[0, 0, 0], [0.1, 0, 0], [0, 0.1, 0], [0, 0, <length>]], tets = [[0, 1, 2, 3]] }",
            "{ kind = 'fill', surface = { kind = 'ball', radius = 0.1, cells = 2 }, tets = <many> }",
        ],
    ),
    (
        "sheet",
        &[
            "{ kind = 'sheet', cells = [<count>, <count>], size = [<length>, <length>] }",
            "{ kind = 'disc', radius = <length>, cells = <count> }",
            "{ kind = 'strip', length = <length>, width = <length>, pairs = <count> }",
            "{ kind = 'surface', surface = <mesh> }",
        ],
    ),
    (
        "line",
        &[
            "{ kind = 'rope', from = <place>, to = <place>, segments = <many> }",
            "{ kind = 'line', points = [<place>, <place>, <place>] }",
        ],
    ),
    ("cloud", &["<tets>", "{ kind = 'points', points = [<place>, <place>, <place>, <place>, <place>] }", "<sheet>"]),
    ("stiffness", &["{ kind = 'young', modulus = <modulus> }", "{ kind = 'uniform', value = <modulus> }"]),
    (
        "dashpot",
        &[
            "'none'",
            "{ kind = 'ratio', value = <small> }",
            "{ kind = 'coefficient', value = <force> }",
            "{ kind = 'time', value = <small> }",
        ],
    ),
    (
        "springs",
        &[
            "'springs'",
            "{ kind = 'springs', stiffness = <stiffness>, dashpot = <dashpot>, integrator = '<integrator>' }",
            "{ kind = 'springs', stiffness = <stiffness>, element = { kind = 'kelvin', arm = <modulus> }, volume = { kind = 'bulk', modulus = <modulus> } }",
            "{ kind = 'springs', element = 'maxwell', bending = <small>, mass = { kind = 'total', value = <mass> } }",
        ],
    ),
    ("integrator", &["symplectic_euler", "verlet", "implicit"]),
    ("damping", &["{ kind = 'internal', rate = <small> }", "{ kind = 'printed', gamma = <share> }"]),
    (
        "clusters",
        &[
            "'one'",
            "{ kind = 'blocks', size = <length>, overlap = <small> }",
            "{ kind = 'regions', width = <count>, spacing = <count> }",
        ],
    ),
    ("melt", &["{ yield_strain = <share>, creep = <force>, max_strain = <share> }"]),
    (
        "matching",
        &[
            "'shape_matching'",
            "{ kind = 'shape_matching', mode = { kind = '<mode>', beta = <share> }, clusters = <clusters>, damping = <damping> }",
            "{ kind = 'shape_matching', frequency = <force>, density = <mass>, iterations = <count>, plasticity = <melt> }",
        ],
    ),
    ("mode", &["linear", "quadratic"]),
    (
        "meshless",
        &[
            "'meshless'",
            "{ kind = 'meshless', youngs_modulus = <modulus>, poisson_ratio = <ratio>, damping = <small>, support = <count> }",
            "{ kind = 'meshless', scheme = 'explicit', density = <mass>, stabilization = <small>, volume_stiffness = <modulus> }",
        ],
    ),
    (
        "oriented",
        &[
            "'oriented'",
            "{ kind = 'oriented', radii = <lengths>, density = <mass>, frequency = <force>, damping = <small> }",
            "{ kind = 'oriented', group = 'links', iterations = <count>, plasticity = <melt> }",
        ],
    ),
    (
        "tetmodel",
        &[
            "'corotational'",
            "{ kind = 'corotational', youngs_modulus = <modulus>, poisson_ratio = <ratio>, damping = <small> }",
            "{ kind = 'solid', law = '<elastic>', elements = '<elements>' }",
            "{ kind = 'solid', law = '<elastic>', integrator = 'explicit', poisson_ratio = <ratio>, mass_damping = <small> }",
            "{ kind = 'solid', plasticity = { yield_stress = <modulus>, creep = <force>, max_strain = <share> } }",
            "{ kind = 'pbd_solid', youngs_modulus = <modulus>, poisson_ratio = <ratio>, density = <mass>, iterations = <count>, damping = <damping> }",
            "<springs>",
            "<matching>",
            "<meshless>",
            "<oriented>",
        ],
    ),
    ("elastic", &["linear", "corotational", "st_venant_kirchhoff", "neo_hookean", "log_neo_hookean"]),
    ("elements", &["tet4", "tet4_averaged", "tet10", "tet10_averaged"]),
    (
        "sheetmodel",
        &[
            "'membrane'",
            "{ kind = 'membrane', material = { kind = 'isotropic', youngs_modulus = <modulus>, poisson_ratio = <ratio> }, thickness = <thin>, density = <mass> }",
            "{ kind = 'membrane', material = { kind = 'orthotropic', youngs_x = <modulus>, youngs_y = <modulus>, poisson_xy = <ratio>, shear = <modulus> }, integrator = 'explicit' }",
            "{ kind = 'pbd_sheet', stretch = <modulus>, density = <mass>, bend = <small>, compression = <share>, skip_stiffness = <modulus> }",
            "{ kind = 'pbd_sheet', stretch = inf, density = <mass>, stretch_limit = <share>, iterations = <count> }",
            "<springs>",
            "<matching>",
        ],
    ),
    (
        "linemodel",
        &[
            "{ kind = 'pbd_cord', stretch = <modulus>, density = <mass>, bend = <small>, compression = <share>, iterations = <count> }",
            "{ kind = 'pbd_cord', stretch = inf, density = 0.1, damping = <damping>, row_damping = <small> }",
            "{ kind = 'springs', stiffness = <stiffness>, mass = { kind = 'total', value = <mass> }, integrator = '<integrator>' }",
            "<oriented>",
        ],
    ),
    ("cloudmodel", &["<matching>", "<meshless>", "<oriented>"]),
    (
        "held",
        &[
            "position = <place>\n",
            "position = <place>\npinned = [0]\n",
            "position = <place>\nthickness = <length>\nself_contact = <bool>\n",
            "velocity = <fling>\nspin = <fling>\nrotation = <turn>\n",
            "air = { density = <small>, wind = <fling> }\n",
            "pinned_regions = [{ min = [-1, -1, -1], max = [1, 0, 1] }]\ndamping = <small>\n",
            "skin = { mesh = <mesh>, offset = <small> }\n",
        ],
    ),
    // joints
    ("limits", &["", "limits = [<negative>, <small>]\n"]),
    ("negative", &["-1", "0", "-inf", "-1e-6", "1"]),
    (
        "motor",
        &[
            "{ kind = 'velocity', target = <force>, max_force = <force> }",
            "{ kind = 'velocity', target = <force> }",
            "{ kind = 'position', target = <small>, frequency = <force>, damping_ratio = <small> }",
        ],
    ),
    ("breaks", &["", "break_force = <modulus>\n", "strength = <modulus>\n"]),
    (
        "site",
        &[
            "{ kind = 'world', point = <place> }",
            "{ kind = 'body', body = '<r>', local = <place> }",
            "{ kind = 'node', body = '<s>', node = <index> }",
            "{ kind = 'surfel', body = '<s>', surfel = <index> }",
            "{ kind = 'face', body = '<s>', triangle = <index>, weights = [0.2, 0.3, 0.5] }",
        ],
    ),
    (
        "joint",
        &[
            "kind = 'ball'\na = '<r>'\nb = '<r>'\nanchor = <place>\n",
            "kind = 'fixed'\nb = '<r>'\ncollide = <bool>\n",
            "kind = 'fixed'\na = '<r>'\nb = '<r>'\nstabilization = { kind = 'baumgarte', share = <share> }\n",
            "kind = 'hinge'\na = '<r>'\nb = '<r>'\nanchor = <place>\naxis = <arrow>\nmotor = <motor>\n<limits>",
            "kind = 'slider'\nb = '<r>'\naxis = <arrow>\nmotor = <motor>\n<limits>",
            "kind = 'rod'\na = <site>\nb = <site>\nlength = <length>\n<breaks>",
            "kind = 'rope'\na = <site>\nb = <site>\nlength = <small>\n<breaks>",
            "kind = 'spring'\na = <site>\nb = <site>\nlength = <small>\nstiffness = <modulus>\ndamping = <small>\n<breaks>",
            "kind = 'attach'\npairs = [{ point = <site> }]\n",
            "kind = 'attach'\npairs = [{ point = <site>, to = { kind = 'here', body = '<r>' } }]\nstiffness = <modulus>\ndamping = <small>\n",
            "kind = 'attach'\npairs = [{ point = <site>, to = { kind = 'at', site = <site> } }]\nbreak_force = <modulus>\n",
            "kind = 'seam'\na = '<s>'\nb = '<s>'\nreach = <length>\n",
            "kind = 'distance_set'\nbody = '<s>'\npull = <modulus>\npush = <small>\nstiffness = [<modulus>, <small>]\n",
            "kind = 'bending'\nbody = '<s>'\nstiffness = <small>\ndamping = <small>\n",
            "kind = 'bending'\nbody = '<s>'\nstiffness = <small>\nlaw = 'printed'\n",
            "kind = 'volume'\nbody = '<s>'\ninside = { kind = 'gas', pressure = <force> }\n",
            "kind = 'volume'\nbody = '<s>'\ninside = { kind = 'held', compliance = <small> }\n",
            "kind = 'patch'\nbody = '<s>'\nsurfels = [0, 1, <index>]\nfree = 'hinge'\nto = '<r>'\naxis = <arrow>\n",
        ],
    ),
    // scripts
    (
        "motion",
        &[
            "kind = 'force'\nbody = '<r>'\nkeys = [{ time = 0, force = <fling>, torque = <fling> }]\n",
            "kind = 'target'\nbody = '<r>'\nkeys = [{ time = 0, position = <place> }, { time = <share>, position = <place>, rotation = <turn> }]\n",
            "kind = 'impulse'\nbody = '<r>'\ntime = <share>\nimpulse = <fling>\npoint = <place>\n",
            "kind = 'nodes'\nbody = '<s>'\nnodes = [0]\nkeys = [{ time = 0, positions = [<place>] }, { time = 0.5, positions = [<place>] }]\n",
            "kind = 'motor'\njoint = 'j0'\nmotor = <motor>\nkeys = [{ time = 0, value = <force> }]\n",
        ],
    ),
    // settings
    (
        "setting",
        &[
            "dt = 0.016666668\n",
            "dt = <step>\n",
            "gravity = <arrow>\n",
            "gravity = <fling>\n",
            "substeps = <many>\n",
            "implicit_substeps = <count>\n",
            "sweeps = <many>\n",
            "relax_sweeps = <count>\n",
            "contact = { kind = 'soft', frequency = <force>, damping_ratio = <small> }\n",
            "contact = { kind = 'baumgarte', share = <share> }\n",
            "joint = { kind = 'soft', frequency = <force> }\n",
            "warm_start = <share>\n",
            "stop_residual = <small>\n",
            "order = { kind = 'staggered', rigid = 2, deformable = 1 }\n",
            "friction_bound = 'weight'\n",
            "average_impulses = true\n",
            "contact_method = 'impulse'\n",
            "contact_method = { kind = 'penalty', law = { kind = '<penalty>', stiffness = <modulus>, buffer = <length> } }\n",
            "contact_method = { kind = 'penalty', law = { kind = 'quadratic', stiffness = <modulus> } }\n",
            "contact_method = { kind = 'penalty', law = { kind = 'barrier', strength = <small>, buffer = <length> } }\n",
            "contact_margin = <small>\n",
            "contact_slop = <small>\n",
            "push_speed = <small>\n",
            "intersection_free = true\n",
            "intersection_free = true\nminimum_gap = <small>\n",
            "time_of_contact = '<toc>'\nguaranteed = true\n",
            "max_speed = <modulus>\n",
            "max_turn = <small>\n",
            "sleep_time = <small>\nsleep_speed = <small>\n",
            "friction = { kind = 'soft', frequency = <force> }\n",
            "recycle_distance = <small>\n",
            "lanes = false\n",
            "impact_substeps = <many>\n",
            "sheet_substeps = <many>\n",
            "max_substeps = <many>\n",
            "point_forces = true\nresiduals = true\n",
            "implicit = { tolerance = <small>, carry = <share>, stiffness = <small>, tangential = <small> }\n",
        ],
    ),
    ("step", &["0.01", "0.001", "0.1", "1", "10", "<wild>"]),
    ("penalty", &["buffered", "quadratic"]),
    ("toc", &["bisection", "regula_falsi", "brent", "conservative"]),
];

/// Generates a scene from bytes.
pub struct Draw<'a> {
    bytes: Unstructured<'a>,
    /// Probability of an extreme number, in 256ths.
    wildness: u8,
    rigid: u8,
    soft: u8,
}

impl<'a> Draw<'a> {
    /// A generator that reads the bytes of a fuzzer; when they are used up, the first alternatives are taken.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes: Unstructured::new(bytes), wildness: 0, rigid: 1, soft: 0 }
    }

    /// The tables of a scene, each with its header: settings, bodies, joints, motions.
    pub fn tables(&mut self) -> Vec<(String, String)> {
        self.wildness = [0, 4, 16, 64][self.below(4)];
        self.rigid = 1 + self.below(4) as u8;
        self.soft = self.below(3) as u8;
        let mut tables = Vec::new();
        let settings = (0..self.below(4)).map(|_| self.one("setting")).collect();
        tables.push(("settings".to_owned(), settings));
        // most scenes have a ground
        if self.below(4) < 3 {
            tables
                .push(("bodies.floor".to_owned(), "kind = 'fixed'\nshape = 'half_space'\nsurface = 0.5\n".to_owned()));
        }
        for (kind, letter, count) in [("rigid", 'r', self.rigid), ("soft", 's', self.soft)] {
            for i in 0..count {
                tables.push((format!("bodies.{letter}{i}"), self.one(kind)));
            }
        }
        for i in 0..self.below(4) {
            tables.push((format!("joints.j{i}"), self.one("joint")));
        }
        for i in 0..self.below(3) {
            tables.push((format!("motions.m{i}"), self.one("motion")));
        }
        tables
    }

    fn below(&mut self, n: usize) -> usize {
        usize::from(self.bytes.arbitrary::<u8>().unwrap_or(0)) % n
    }

    fn one(&mut self, rule: &str) -> String {
        let mut out = String::new();
        self.expand(rule, 0, &mut out);
        out
    }

    fn expand(&mut self, rule: &str, depth: u32, out: &mut String) {
        match rule {
            "wild" => out.push_str(WILD[self.below(WILD.len())]),
            // within a metre, so that bodies collide
            "x" => out.push_str(&format!("{:.2}", 0.01 * (self.below(256) as f64 - 100.0))),
            "r" => out.push_str(&format!("r{}", self.below(usize::from(self.rigid)))),
            "s" => out.push_str(&format!("s{}", self.below(usize::from(self.soft.max(1))))),
            _ => {
                let (_, all) = RULES.iter().find(|(name, _)| *name == rule).expect("every rule is in the table");
                let mut which = if depth > DEEPEST { 0 } else { self.below(all.len()) };
                // extreme numbers are rare; otherwise almost no scene would be valid
                if all[which] == "<wild>" && self.below(256) >= usize::from(self.wildness) {
                    which = 0;
                }
                self.fill(all[which], depth + 1, out);
            }
        }
    }

    fn fill(&mut self, template: &str, depth: u32, out: &mut String) {
        let mut rest = template;
        while let Some((before, after)) = rest.split_once('<') {
            let (rule, behind) = after.split_once('>').expect("a name ends with >");
            out.push_str(before);
            self.expand(rule, depth, out);
            rest = behind;
        }
        out.push_str(rest);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_in_the_grammar_is_a_rule() {
        for (rule, alternatives) in RULES {
            for text in *alternatives {
                for name in text.split('<').skip(1).filter_map(|piece| piece.split_once('>')) {
                    let known =
                        ["wild", "x", "r", "s"].contains(&name.0) || RULES.iter().any(|(rule, _)| *rule == name.0);
                    assert!(known, "{rule}: <{}>", name.0);
                }
            }
        }
    }
}
