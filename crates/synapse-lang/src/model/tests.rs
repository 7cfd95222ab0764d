use super::*;

#[test]
fn the_embedded_data_can_be_read() {
    let model = Model::parse(EMBEDDED).unwrap();
    assert!(model.elements().count() > 0);
}
